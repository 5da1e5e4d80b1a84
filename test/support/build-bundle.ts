// Before the tests that call the Worker from outside: the bundle they run is made of the sources they came with.

export { buildBundle as default } from "../../scripts/build.ts";
