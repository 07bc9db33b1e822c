const openXml = 'http://schemas.openxmlformats.org';
const strict = 'http://purl.oclc.org/ooxml';
const openDocument = 'urn:oasis:names:tc:opendocument:xmlns';

/** The prefixes that namespaces have in nearly all documents, and by which their readers know elements. */
const usual = new Map([
  [`${openXml}/wordprocessingml/2006/main`, 'w'],
  [`${strict}/wordprocessingml/main`, 'w'],
  [`${openXml}/drawingml/2006/main`, 'a'],
  [`${strict}/drawingml/main`, 'a'],
  [`${openXml}/drawingml/2006/chart`, 'c'],
  [`${strict}/drawingml/chart`, 'c'],
  ['http://schemas.microsoft.com/office/drawing/2014/chartex', 'cx'],
  [`${openXml}/drawingml/2006/diagram`, 'dgm'],
  [`${strict}/drawingml/diagram`, 'dgm'],
  [`${openXml}/presentationml/2006/main`, 'p'],
  [`${strict}/presentationml/main`, 'p'],
  [`${openXml}/officeDocument/2006/math`, 'm'],
  [`${strict}/officeDocument/math`, 'm'],
  [`${openXml}/markup-compatibility/2006`, 'mc'],
  [`${openDocument}:office:1.0`, 'office'],
  [`${openDocument}:text:1.0`, 'text'],
  [`${openDocument}:table:1.0`, 'table'],
  [`${openDocument}:drawing:1.0`, 'draw'],
]);
/** A bound, since each element copies the declarations of its parent. No program declares more. */
const maxPrefixes = 100;

/** The usual prefixes by those of a document, where these are others. '' is that of names without one. */
type Scope = ReadonlyMap<string, string>;

/** Gives names the usual prefixes of their namespaces. Those whose namespace is not declared, or not known, stay as they are. */
export class XmlPrefixes {
  /** The declarations of the open elements. */
  readonly #scopes: Scope[] = [];

  open(name: string, attributes: Record<string, string>): { name: string; attributes: Record<string, string> } {
    const scope = declare(this.#scopes.at(-1) ?? new Map(), attributes);
    this.#scopes.push(scope);
    if (scope.size === 0) return { name, attributes };
    // An attribute without a prefix is in no namespace.
    const rename = ([key, value]: [string, string]) => [key.includes(':') ? toUsual(key, scope) : key, value];
    return { name: toUsual(name, scope), attributes: Object.fromEntries(Object.entries(attributes).map(rename)) };
  }

  close(name: string): string {
    return toUsual(name, this.#scopes.pop() ?? new Map());
  }
}

function declare(outer: Scope, attributes: Record<string, string>): Scope {
  let inner: Map<string, string> | undefined;
  for (const name in attributes) {
    if (name !== 'xmlns' && !name.startsWith('xmlns:')) continue;
    const prefix = name.slice('xmlns:'.length);
    const known = usual.get(attributes[name] ?? '');
    inner ??= new Map(outer);
    if (known === undefined || known === prefix) inner.delete(prefix);
    else if (inner.size < maxPrefixes) inner.set(prefix, known);
  }
  return inner ?? outer;
}

function toUsual(name: string, scope: Scope): string {
  const colon = name.indexOf(':');
  const prefix = scope.get(name.slice(0, Math.max(0, colon)));
  return prefix === undefined ? name : `${prefix}:${name.slice(colon + 1)}`;
}
