// What a listing's bazaar block says a call takes and gives, for the faces that show it. The block was checked when it
// was listed, and is still a seller's JSON: every part is read again and anything may be missing. Pure.

import { isRecord } from "../block/block-rules.ts";
import type { Resource } from "./resource.ts";

export type InputPlace = "path" | "query" | "header" | "body" | "argument";

export interface InputField {
  place: InputPlace;
  name: string;
  /** As a reader says it: `string`, `number or null`, `one of "a", "b"`; empty when nothing says. */
  type: string;
  isRequired: boolean;
  description: string;
  /** JSON; empty when there is none. */
  example: string;
}

export interface DeclaredInputs {
  fields: InputField[];
  /** Fields beyond `MAX_FIELDS`. */
  leftOut: number;
}

/** More than any form a person fills in; a block may name two thousand. */
export const MAX_FIELDS = 40;
const MAX_TEXT_CHARACTERS = 200;
const MAX_CHOICES = 8;

/** Names in `info.input` and in its schema, and where each belongs in a request. */
const HTTP_PLACES: readonly [string, InputPlace][] = [
  ["pathParams", "path"],
  ["queryParams", "query"],
  ["headers", "header"],
  ["body", "body"],
];

/** The fields that a call takes, those of the path first. */
export function declaredInputs(resource: Resource): DeclaredInputs {
  const input = inputOf(resource);
  const groups =
    resource.type === "mcp"
      ? [fieldsOf("argument", input.inputSchema, input.example)]
      : HTTP_PLACES.map(([part, place]) =>
          fieldsOf(
            place,
            propertiesOf(schemaOf(resource))[part],
            place === "path" ? pathNames(resource) : input[part],
          ),
        );
  const fields = groups.flat();
  return { fields: fields.slice(0, MAX_FIELDS), leftOut: Math.max(0, fields.length - MAX_FIELDS) };
}

/** The JSON Schema of the input: an MCP tool's own, else the part of the block's schema about `input`. */
export function inputSchemaOf(resource: Resource): Record<string, unknown> | undefined {
  const schema = resource.type === "mcp" ? inputOf(resource).inputSchema : schemaOf(resource);
  return isRecord(schema) ? schema : undefined;
}

/** `info.input` of the block, or an empty object. */
export function inputOf(resource: Resource): Record<string, unknown> {
  const info = infoOf(resource);
  return isRecord(info.input) ? info.input : {};
}

/** `info.output.example`, or undefined. */
export function outputExampleOf(resource: Resource): unknown {
  const { output } = infoOf(resource);
  return isRecord(output) ? output.example : undefined;
}

/** The names in a route template, without values: what one buyer put there is not kept. */
function pathNames({ resource, exampleUrl }: Resource): Record<string, undefined> {
  if (exampleUrl === undefined) return {};
  const path = resource.replace(/^\w+:\/\/[^/]*/, "");
  return Object.fromEntries([...path.matchAll(/:([a-zA-Z_]\w*)/g)].map(([, name = ""]) => [name, undefined]));
}

function infoOf({ extensions }: Resource): Record<string, unknown> {
  const block = extensions?.bazaar;
  return isRecord(block) && isRecord(block.info) ? block.info : {};
}

function schemaOf({ extensions }: Resource): unknown {
  const block = extensions?.bazaar;
  return isRecord(block) ? propertiesOf(block.schema).input : undefined;
}

function propertiesOf(schema: unknown): Record<string, unknown> {
  return isRecord(schema) && isRecord(schema.properties) ? schema.properties : {};
}

function fieldsOf(place: InputPlace, schema: unknown, values: unknown): InputField[] {
  if (typeof values === "string") {
    return [{ place, name: "", type: "text", isRequired: true, description: "", example: cut(values) }];
  }
  const properties = new Map(Object.entries(propertiesOf(schema)));
  const examples = new Map(Object.entries(isRecord(values) ? values : {}));
  const required = isRecord(schema) && Array.isArray(schema.required) ? schema.required : [];
  return [...new Set([...properties.keys(), ...examples.keys()])].map((name) => {
    const property = properties.get(name);
    const example = examples.get(name);
    return {
      place,
      name: cut(name),
      type: cut(typeOf(property, example)),
      isRequired: place === "path" || required.includes(name),
      description:
        isRecord(property) && typeof property.description === "string" ? cut(property.description) : "",
      example: example === undefined ? "" : cut(JSON.stringify(example)),
    };
  });
}

function typeOf(property: unknown, example: unknown): string {
  if (isRecord(property)) {
    if (Array.isArray(property.enum) && property.enum.length > 0) {
      const choices = property.enum.slice(0, MAX_CHOICES).map((choice) => JSON.stringify(choice));
      return `one of ${choices.join(", ")}${property.enum.length > MAX_CHOICES ? ", …" : ""}`;
    }
    if (typeof property.type === "string") return property.type;
    if (Array.isArray(property.type))
      return property.type.filter((type) => typeof type === "string").join(" or ");
  }
  if (example === undefined || example === null) return "";
  return Array.isArray(example) ? "array" : typeof example;
}

function cut(text: string): string {
  return text.length > MAX_TEXT_CHARACTERS ? `${text.slice(0, MAX_TEXT_CHARACTERS).toWellFormed()}…` : text;
}
