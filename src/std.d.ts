/**
 * Types of the parts of the standard library that this project uses. Its npm package has no types. With the
 * JSR packages, this file is not needed.
 */

declare module "@std/assert" {
  export function assert(expression: unknown, message?: string): asserts expression;
  export function assertEquals<T>(actual: T, expected: T, message?: string): void;
  export function assertNotEquals<T>(actual: T, expected: T, message?: string): void;
  export function assertStrictEquals<T>(actual: unknown, expected: T, message?: string): void;
  export function assertNotStrictEquals<T>(actual: unknown, expected: T, message?: string): void;
  export function assertMatch(actual: string, expected: RegExp, message?: string): void;
  export function assertStringIncludes(actual: string, expected: string, message?: string): void;
  export function assertGreater<T>(actual: T, expected: T, message?: string): void;
  export function assertLess<T>(actual: T, expected: T, message?: string): void;
  export function assertLessOrEqual<T>(actual: T, expected: T, message?: string): void;
  // deno-lint-ignore no-explicit-any -- constructors of any signature
  type Class<E> = new (...args: any[]) => E;
  export function assertThrows<E>(run: () => unknown, error: Class<E>, message?: string): E;
  export function assertRejects<E>(
    run: () => PromiseLike<unknown>,
    error: Class<E>,
    message?: string,
  ): Promise<E>;
}

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
    request: { headers: Headers },
    ...encodings: string[]
  ): string | undefined;
}

declare module "@std/ulid" {
  export function monotonicUlid(seedTime?: number): string;
}

declare module "@std/testing/mock" {
  /** A function that records its calls. `restore()` puts back a method that it has replaced. */
  // deno-lint-ignore no-explicit-any -- the defaults fit every function
  export interface Spy<Args extends any[] = any[], Return = any> extends Disposable {
    (...args: Args): Return;
    calls: { args: Args; returned?: Return; error?: Error; self?: unknown }[];
    restore(): void;
  }
  export function spy(): Spy;
  export function spy<Args extends unknown[], Return>(
    run: (...args: Args) => Return,
  ): Spy<Args, Return>;
  export function spy<Self>(self: Self, method: keyof Self): Spy;
  export function stub<Self, Name extends keyof Self>(
    self: Self,
    method: Name,
    run: Self[Name],
  ): Spy;
}
