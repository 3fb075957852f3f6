/** Returns a response. Another runtime has a cheaper one than its `Response`. */
export function makeResponse(body: BodyInit | null, init: ResponseInit): Response {
  return new Response(body, init);
}
