// Takes the place of `ajv` and `ajv-formats` in the bundle (wrangler.toml, [alias]): the MCP SDK imports them by name,
// and Workers forbid the code that they generate. The server is given an interpreting validator, so nothing makes one.

export class Ajv {
  constructor() {
    throw new Error("code generation is not possible here");
  }
}

export default Ajv;
