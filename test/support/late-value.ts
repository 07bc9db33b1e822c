/**
 * An object that stands for one which is made later, so that a `describe` can name it before its hooks have run. Returns it with
 * what sets the other one, as often as needed. Until then every use throws.
 */
export function lateValue<T extends object>(name: string): [value: T, set: (value: T) => void] {
  let current: T | undefined;
  const get = (): T => {
    if (current === undefined)
      throw new Error(`There is no ${name} before the hooks of this describe have run, or its options do not ask for one.`);
    return current;
  };
  const value = new Proxy({} as T, {
    get: (_, key) => Reflect.get(get(), key),
    set: (_, key, to) => Reflect.set(get(), key, to),
    has: (_, key) => Reflect.has(get(), key),
    ownKeys: () => Reflect.ownKeys(get()),
    getOwnPropertyDescriptor: (_, key) => {
      const descriptor = Reflect.getOwnPropertyDescriptor(get(), key);
      // What the proxy's own target lacks can only be shown as configurable.
      return descriptor && { ...descriptor, configurable: true };
    },
  });
  return [value, (to) => (current = to)];
}
