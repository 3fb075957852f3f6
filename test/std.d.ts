/** Types of the parts of the standard library that only tests use, as in `src/std.d.ts`. */

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

declare module "@std/testing/mock" {
  /** A function that records its calls. `restore()` puts back a method that it has replaced. */
  // deno-lint-ignore no-explicit-any -- the defaults fit every function
  export interface Spy<Args extends any[] = any[], Return = any> extends Disposable {
    (...args: Args): Return;
    calls: { args: Args; returned?: Return; error?: Error; self?: unknown }[];
    restore(): void;
  }
  export function spy(): Spy;
  export function spy<Args extends unknown[], T>(run: (...args: Args) => T): Spy<Args, T>;
  export function spy<Self>(self: Self, method: keyof Self): Spy;
  export function stub<T, Name extends keyof T>(self: T, method: Name, run: T[Name]): Spy;
}
