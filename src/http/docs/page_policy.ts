/** The sources of a page, as its policy names them. */
interface PageSources {
  scripts: string;
  styles: string;
  requests: string;
}

/** The `Content-Security-Policy` of a page, as a header: only these sources. */
export function pagePolicy({ scripts, styles, requests }: PageSources) {
  const policy = [
    "default-src 'none'",
    `script-src ${scripts}`,
    `style-src ${styles}`,
    `connect-src ${requests}`,
    "img-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ];
  return { "content-security-policy": policy.join("; ") };
}
