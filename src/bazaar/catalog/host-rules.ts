// Which hosts may be listed, shown as an icon's home, or probed (DESIGN.md section 4). Judged on the parsed host:
// the URL parser has already decoded, normalised and turned every spelling of an IPv4 address into dots.

export interface HostRules {
  /** Our own hosts: `name` refuses every port of it, `name:port` that one only. Lower case. */
  ownHosts: readonly string[];
  /** Local world only: `localhost`, 127.0.0.0/8 and [::1] are allowed on any port that is not ours. */
  allowLoopback: boolean;
}

/** Names that a resolver may answer from inside the operator's or the reader's network. */
const PRIVATE_SUFFIXES = [".local", ".internal", ".localhost", ".localdomain"];

/** Why a URL's host is refused, as a sentence's end, or undefined. For `http` and `https` URLs. */
export function findHostProblem(url: URL, rules: HostRules): string | undefined {
  const { hostname, host } = url;
  if (rules.ownHosts.includes(host) || rules.ownHosts.includes(hostname)) return "must not be this service";
  if (isLoopbackHost(hostname)) return rules.allowLoopback ? undefined : "must not be a loopback host";
  return findNameProblem(hostname);
}

/** Why a host is no public name, as a sentence's end, or undefined. */
export function findNameProblem(hostname: string): string | undefined {
  if (hostname.startsWith("[") || /^\d+(\.\d+){3}$/.test(hostname)) return "must not be an IP address";
  if (hostname.endsWith(".")) return "must not end in a dot";
  if (!hostname.includes(".")) return "must be a full domain name";
  if (PRIVATE_SUFFIXES.some((suffix) => hostname.endsWith(suffix))) return "must be a public domain name";
  return undefined;
}

export function isLoopbackHost(hostname: string): boolean {
  return hostname === "localhost" || hostname === "[::1]" || /^127(\.\d+){3}$/.test(hostname);
}

/** Our own hosts as `HostRules` wants them. On loopback only our port is ours; the others belong to neighbours. */
export function ownHostsOf(urls: readonly string[]): string[] {
  return urls.flatMap((text) => {
    if (!URL.canParse(text)) return [];
    const url = new URL(text);
    return [isLoopbackHost(url.hostname) ? url.host : url.hostname];
  });
}
