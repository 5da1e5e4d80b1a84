// Which URLs may be listed, and their canonical form.

import { describe, expect, it } from "vitest";
import { type HostRules, ownHostsOf } from "../../src/bazaar/catalog/host-rules.ts";
import { readResourceUrl } from "../../src/bazaar/catalog/resource-url.ts";

const PUBLIC: HostRules = {
  ownHosts: ownHostsOf(["https://souk.test", "https://pay.example.test:8443"]),
  allowLoopback: false,
};
const LOCAL: HostRules = { ownHosts: ownHostsOf(["http://127.0.0.1:8787"]), allowLoopback: true };

function problemOf(text: unknown, rules = PUBLIC): string {
  const reading = readResourceUrl(text, rules);
  return reading.ok ? "none" : reading.reason;
}

describe("C33, C35: a resource's URL", () => {
  it.each([
    ["https://API.Shop.test:443/weather?city=Oslo#x", "https://api.shop.test", "/weather"],
    ["http://api.shop.test:80", "http://api.shop.test", "/"],
    ["https://api.shop.test:8443/a/", "https://api.shop.test:8443", "/a/"],
    ["https://api.shop.test/a/%2e%2e/b/./c", "https://api.shop.test", "/b/c"],
    ["https://аpi.shop.test/x", "https://xn--pi-6kc.shop.test", "/x"],
    ["https://api.shop.test/caf\u00e9", "https://api.shop.test", "/caf%C3%A9"],
  ])("%s is %s and %s", (text, origin, path) => {
    expect(readResourceUrl(text, PUBLIC)).toMatchObject({
      ok: true,
      resource: { kind: "http", origin, path },
    });
  });

  it.each([
    ["ftp://shop.test/a", "resource.url must be an http, https or mcp URL"],
    ["javascript:alert(1)", "resource.url must be an http, https or mcp URL"],
    ["https://user:pass@shop.test/", "resource.url must not hold a user name or password"],
    ["mcp://user@server/tool", "resource.url must not hold a user name or password"],
    ["mcp://server/a\u00e9", "resource.url must be printable ASCII"],
    ["/weather", "resource.url is not an absolute URL"],
    ["", "resource.url is missing"],
    [null, "resource.url is missing"],
    [`https://shop.test/${"a".repeat(2_048)}`, "resource.url is longer than 2048 characters"],
    ["https://souk.test/verify", "resource.url host must not be this service"],
    ["https://SOUK.test:9999/verify", "resource.url host must not be this service"],
    ["https://pay.example.test/", "resource.url host must not be this service"],
    ["http://10.0.0.1/", "resource.url host must not be an IP address"],
    ["http://8.8.8.8/", "resource.url host must not be an IP address"],
    ["http://2852039166/latest", "resource.url host must not be an IP address"],
    ["http://0xA9FEA9FE/", "resource.url host must not be an IP address"],
    ["http://0251.0376.0251.0376/", "resource.url host must not be an IP address"],
    ["http://169.254.43518/", "resource.url host must not be an IP address"],
    ["http://%31%36%39.254.169.254/", "resource.url host must not be an IP address"],
    ["http://①⑥⑨.254.169.254/", "resource.url host must not be an IP address"],
    ["http://[fd00::1]/", "resource.url host must not be an IP address"],
    ["http://[::ffff:10.0.0.1]/", "resource.url host must not be an IP address"],
    ["http://127.0.0.1/", "resource.url host must not be a loopback host"],
    ["http://127.1:8080/", "resource.url host must not be a loopback host"],
    ["http://localhost/", "resource.url host must not be a loopback host"],
    ["http://LOCALHOST:3000/", "resource.url host must not be a loopback host"],
    ["http://ⓛocalhost/", "resource.url host must not be a loopback host"],
    ["http://[::1]/", "resource.url host must not be a loopback host"],
    ["http://localhost./", "resource.url host must not end in a dot"],
    ["http://shop.test./", "resource.url host must not end in a dot"],
    ["http://intranet/", "resource.url host must be a full domain name"],
    ["http://printer.local/", "resource.url host must be a public domain name"],
    ["http://metadata.google.internal/", "resource.url host must be a public domain name"],
    ["http://a.localhost/", "resource.url host must be a public domain name"],
  ])("%s is refused", (text, reason) => {
    expect(problemOf(text)).toBe(reason);
  });

  it("may be on loopback where the operator allows it, but never this service", () => {
    for (const url of ["http://127.0.0.1:4021/a", "http://localhost:4021/a", "http://[::1]:4021/a"]) {
      expect(problemOf(url, LOCAL)).toBe("none");
    }
    expect(problemOf("http://127.0.0.1:8787/verify", LOCAL)).toBe(
      "resource.url host must not be this service",
    );
    expect(problemOf("http://10.0.0.1/", LOCAL)).toBe("resource.url host must not be an IP address");
    expect(problemOf("http://intranet/", LOCAL)).toBe("resource.url host must be a full domain name");
  });
});
