/** What the fields of a form hold: `items[0][price]=x` is `{ items: [{ price: 'x' }] }`. */
export interface Form {
  [name: string]: Value;
}
export type Value = string | Form | Value[] | undefined;

/** Reads a form or a query as Stripe's clients write it. */
export function parseForm(text: string): Form {
  const form: Form = {};
  for (const [name, value] of new URLSearchParams(text)) put(form, name.split(/[[\]]+/).filter(Boolean), value);
  return withArrays(form) as Form;
}

function put(form: Form, [key = '', ...rest]: string[], value: string): void {
  if (rest.length === 0) {
    form[key] = value;
    return;
  }
  form[key] ??= {};
  put(form[key] as Form, rest, value);
}

function withArrays(value: Value): Value {
  if (typeof value !== 'object' || Array.isArray(value)) return value;
  const entries = Object.entries(value).map(([key, each]) => [key, withArrays(each)] as const);
  if (entries.length > 0 && entries.every(([key], index) => key === String(index))) return entries.map(([, each]) => each);
  return Object.fromEntries(entries);
}
