/** A function that declares tests, each with what `open` opens, which is disposed of after the test. */
export function testWith<Opened extends AsyncDisposable | Disposable, Options extends unknown[]>(
  open: (...options: Options) => Promise<Opened>,
) {
  return (name: string, use: (opened: Opened) => Promise<void>, ...options: Options): void => {
    Deno.test(name, async () => {
      await using opened = await open(...options);
      await use(opened);
    });
  };
}
