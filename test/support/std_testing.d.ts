/** Types for the used part of `@std/testing`, whose npm package has none. With the JSR package, it is not needed. */

declare module "@std/testing/mock" {
  /** A function that records its calls. `restore()` puts back a method that it has replaced. */
  // deno-lint-ignore no-explicit-any -- the defaults fit every function
  export interface Spy<Args extends any[] = any[], Return = any> extends Disposable {
    (...args: Args): Return;
    calls: { args: Args; returned?: Return; error?: Error; self?: unknown }[];
    restored: boolean;
    restore(): void;
  }
  type SpyOf<Method> = Method extends (...args: infer Args) => infer Return ? Spy<Args, Return>
    : never;
  export function spy(): Spy;
  export function spy<Args extends unknown[], Return>(
    run: (...args: Args) => Return,
  ): Spy<Args, Return>;
  export function spy<Self, Name extends keyof Self>(self: Self, method: Name): SpyOf<Self[Name]>;
  export function stub<Self, Name extends keyof Self>(
    self: Self,
    method: Name,
    run?: Self[Name],
  ): SpyOf<Self[Name]>;
  export function assertSpyCalls(spy: Spy, expected: number): void;
  export function assertSpyCall(
    spy: Spy,
    index: number,
    expected?: { args?: unknown[]; returned?: unknown; self?: unknown },
  ): void;
  export function assertSpyCallArgs(spy: Spy, index: number, expected: unknown[]): void;
  export function returnsNext<Return>(values: Iterable<Return | Error>): () => Return;
  export function resolvesNext<Return>(
    values: Iterable<Return | Error | Promise<Return>>,
  ): () => Promise<Return>;
}

declare module "@std/testing/types" {
  /** Does not compile unless the type is `true`. */
  export function assertType<IsTrue extends boolean>(expected: IsTrue): void;
  export type AssertTrue<IsTrue extends true> = never;
  export type IsExact<One, Other> = [One] extends [Other]
    ? [Other] extends [One]
      ? (<T>() => T extends One ? 1 : 2) extends (<T>() => T extends Other ? 1 : 2) ? true : false
    : false
    : false;
  export type Has<Union, Member> = [Member] extends [Union] ? true : false;
}
