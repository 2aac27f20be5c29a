// The one function that makes an address of ours from what a request says: where a browser goes back to after a sign-in, a choice of
// language or an error. Absolute, so that no browser reads a path as another host (`//host`, `/\host`, `/.//host`).

/** @returns the page's address; of anything that isn't below BASE_URL, of `otherwise` */
export type BackTo = (asked: string | undefined, otherwise?: string) => string;

function decoded(path: string): string | undefined {
  try {
    return decodeURIComponent(path);
  } catch {
    return undefined;
  }
}

/** @param baseUrl absolute, without a trailing slash; what is asked includes its path */
export function createBackTo(baseUrl: string): BackTo {
  const { origin, pathname } = new URL(baseUrl);
  const below = `${pathname.replace(/\/$/, '')}/`;
  const isOurs = (url: URL | null): url is URL => url?.origin === origin && url.pathname.startsWith(below);

  return (asked = '', otherwise = below) => {
    // A browser reads what it parses, so that is what is checked: tabs and line ends are gone, `\` is `/`, `..` is resolved.
    const url = asked.startsWith('/') ? URL.parse(asked, origin) : null;
    if (!isOurs(url) || url.pathname.includes('//')) return `${origin}${otherwise}`;
    // Proxies may decode a path before they resolve it.
    const path = decoded(url.pathname)?.replace(/\/{2,}/g, '/');
    return path !== undefined && isOurs(URL.parse(path, origin))
      ? `${origin}${url.pathname}${url.search}`
      : `${origin}${otherwise}`;
  };
}
