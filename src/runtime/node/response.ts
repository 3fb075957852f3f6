/** A response as the handler made it, without the cost of Node's `Response`. Only the server of Node reads it. */
export class PlainResponse {
  readonly status: number;
  readonly headers: PlainHeaders;
  readonly source: BodyInit | null;

  constructor(source: BodyInit | null, { status = 200, headers = {} }: ResponseInit) {
    this.status = status;
    this.headers = new PlainHeaders(headers as Record<string, string>);
    this.source = source;
  }
}

/** Headers that a handler made, whose names are in lower case. */
class PlainHeaders {
  readonly fields: Record<string, string>;

  constructor(fields: Record<string, string>) {
    this.fields = fields;
  }

  get(name: string): string | null {
    return this.fields[name] ?? null;
  }

  set(name: string, value: string): void {
    this.fields[name] = value;
  }
}

/** Returns a response. The headers must be an object with names in lower case. */
export function makeResponse(body: BodyInit | null, init: ResponseInit): Response {
  return new PlainResponse(body, init) as unknown as Response;
}
