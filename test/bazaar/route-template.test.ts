// C31: a template that breaks a rule is dropped, and the concrete path is listed.

import { isValidRouteTemplate } from "@x402/extensions/bazaar";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { readRouteTemplate } from "../../src/bazaar/block/route-template.ts";
import { aBlock, anObservation } from "../support/bazaar.ts";

describe("C31: routeTemplate", () => {
  it.each([
    ["/users/:userId", "/users/123"],
    ["/users/:userId/posts/:post_id", "/users/1/posts/2"],
    ["/files/report%20x", "/files/report%20x"],
    ["/files/:name.json", "/files/a.json"],
    ["/v1/item-:id", "/v1/item-7"],
    ["/files/:var1", "/files/%D0%B0"],
  ])("keeps %s for %s", (template, path) => {
    expect(readRouteTemplate(template, path)).toBe(template);
  });

  it.each([
    ["/a/%2e%2e/b", "/b"],
    ["/a/%252e%252e/b", "/a/x/b"],
    ["/a/%25252e%25252e", "/a/x"],
    ["/a/../b", "/b"],
    ["/x%253a%252f%252fevil.test", "/x"],
    ["/a/%zz", "/a/x"],
    [`/a/%${"25".repeat(8)}41`, "/a/A"],
    ["users/:id", "/users/1"],
    ["/v1/[id]", "/v1/1"],
    ["/*", "/a"],
    [":var1", "/a"],
    ["//evil.test/:x", "//evil.test/1"],
    ["/a//b", "/a//b"],
    ["/./admin", "/admin"],
    ["/users/:id/", "/users/1/"],
    ["/a%00b", "/a%00b"],
    ["/a%0ab", "/a%0ab"],
    ["/a%3fb", "/a%3fb"],
    ["/a%23b", "/a%23b"],
    ["/a%5cb", "/a%5cb"],
    ["/a%2fb", "/a%2fb"],
    ["/a%252fb", "/a%252fb"],
    ["/users/:id", "/accounts/1"],
    ["/users/:id", "/users/1/2"],
    ["/users/:id", "/users"],
    ["/users/:id", "/users/"],
    ["/users/:", "/users/1"],
    ["/users/:1", "/users/1"],
    ["/users/:a:b", "/users/12"],
    ["/users/:id.json", "/users/.json"],
    [`/${"a".repeat(512)}`, `/${"a".repeat(512)}`],
    ["", "/"],
    [undefined, "/"],
    [7, "/"],
    [["/a"], "/a"],
  ])("drops %j for %s", (template, path) => {
    expect(readRouteTemplate(template, path)).toBeUndefined();
  });

  it("never keeps what the published helper refuses", () => {
    const piece = fc.constantFrom(
      "/",
      "a",
      ":id",
      "..",
      ".",
      "%2e",
      "%252e",
      "%25",
      "://",
      "%2f",
      "~",
      "-",
      "?",
      "é",
      "%zz",
      "%00",
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 8 }), fc.array(piece, { maxLength: 8 }), (template, path) => {
        const kept = readRouteTemplate(`/${template.join("")}`, `/${path.join("")}`);
        if (kept !== undefined) expect(isValidRouteTemplate(kept)).toBe(true);
        // Most paths match nothing: the template's own characters make the likeliest path.
        const own = readRouteTemplate(
          `/${template.join("")}`,
          `/${template.join("").replaceAll(":id", "1")}`,
        );
        if (own !== undefined) expect(isValidRouteTemplate(own)).toBe(true);
      }),
      { numRuns: 5_000 },
    );
  });

  it("gives a listing its template and a concrete example, or its concrete path", () => {
    const url = "https://api.shop.test/users/7?key=secret#x";
    expect(anObservation({ url, block: aBlock({}, { routeTemplate: "/users/:id" }) })).toMatchObject({
      resource: "https://api.shop.test/users/:id",
      routeTemplate: "/users/:id",
      exampleUrl: "https://api.shop.test/users/7",
    });
    expect(anObservation({ url, block: aBlock({}, { routeTemplate: "/%252e%252e/:id" }) })).toMatchObject({
      resource: "https://api.shop.test/users/7",
      routeTemplate: null,
      exampleUrl: null,
    });
  });
});
