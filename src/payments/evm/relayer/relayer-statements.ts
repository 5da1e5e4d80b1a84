// Runs SQL statements of one Durable Object's storage, synchronously. It owns the handle; what is asked stands in the
// typed row files beside it.

export type Value = string | number | null;
export type Row = Record<string, Value>;

export class Statements {
  readonly #storage: DurableObjectStorage;

  constructor(storage: DurableObjectStorage) {
    this.#storage = storage;
  }

  all<T extends Row>(statement: string, ...values: Value[]): T[] {
    return this.#storage.sql.exec<T>(statement, ...values).toArray();
  }

  first<T extends Row>(statement: string, ...values: Value[]): T | undefined {
    return this.all<T>(statement, ...values)[0];
  }

  run(statement: string, ...values: Value[]): void {
    this.#storage.sql.exec(statement, ...values);
  }

  /** All or nothing, in one synchronous turn. */
  write<Result>(change: () => Result): Result {
    return this.#storage.transactionSync(change);
  }
}
