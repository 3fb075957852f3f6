/** The `Content-Security-Policy` of a page, as a header: only own scripts, and these styles and requests. */
export function pagePolicy({ styles, requests }: { styles: string; requests: string }) {
  const policy = [
    "default-src 'none'",
    "script-src 'self'",
    `style-src ${styles}`,
    `connect-src ${requests}`,
    "img-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ];
  return { "content-security-policy": policy.join("; ") };
}
