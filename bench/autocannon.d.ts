// The part of autocannon that the benches use; it brings no types.

declare module "autocannon" {
  import type { EventEmitter } from "node:events";

  export interface Client {
    setRequests(requests: { method: string; headers: Record<string, string>; body: string }[]): void;
  }

  export interface Options {
    url: string;
    connections: number;
    /** Seconds. Ignored where `amount` is given. */
    duration?: number;
    /** Requests altogether. */
    amount?: number;
    /** Seconds. */
    timeout: number;
    setupClient(client: Client): void;
    verifyBody(body: string): boolean;
  }

  export interface Result {
    /** Requests that met a network error or timeout. */
    errors: number;
    requests: { sent: number };
  }

  /** Emits `response` with (client, status, bytes, milliseconds). */
  export default function autocannon(
    options: Options,
    done: (error: Error | null, result: Result) => void,
  ): EventEmitter;
}
