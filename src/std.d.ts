/** Types of the parts of the standard library that programs use: its npm package has none, unlike the JSR packages. */

declare module "@std/fmt/colors" {
  export function setColorEnabled(value: boolean): void;
  export function blue(text: string): string;
  export function cyan(text: string): string;
  export function dim(text: string): string;
  export function green(text: string): string;
  export function magenta(text: string): string;
  export function red(text: string): string;
  export function yellow(text: string): string;
}

declare module "@std/http/etag" {
  /** Whether an `If-None-Match` field does not name the tag. */
  export function ifNoneMatch(value: string, etag: string): boolean;
}

declare module "@std/http/negotiation" {
  /** The accepted encoding that the client prefers, or `undefined` if it accepts none of them. */
  export function acceptsEncodings(
    request: { headers: Pick<Headers, "get"> },
    ...encodings: string[]
  ): string | undefined;
}
