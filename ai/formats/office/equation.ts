/** A longer one is written in pieces, so that no document fills the memory with one. */
const maxLength = 20_000;
/** A bracket or a separator is a sign or two; the longest name of a type is `noBar`. */
const maxSignLength = 8;

/** A part of an equation that is open: its text so far, the texts of its operands by their elements, and what its properties say. */
interface Part {
  name: string;
  text: string;
  operands: Record<string, string[]>;
  properties: Record<string, string>;
  /** Its text ends with a part, such as a fraction, and a number behind it is another one. */
  endsWithPart: boolean;
}

const operands = new Set(['m:num', 'm:den', 'm:e', 'm:sub', 'm:sup', 'm:deg', 'm:lim', 'm:fName', 'm:mr']);
const properties = new Set(['m:begChr', 'm:endChr', 'm:sepChr', 'm:chr', 'm:type']);

/** How a part is written, by its element. Those that are not named here are their text. */
const written: Record<string, (of: (operand: string) => string, part: Part) => string> = {
  // Without a bar it is a binomial coefficient.
  'm:f': (of, { properties }) => `${grouped(of('m:num'))}${properties['m:type'] === 'noBar' ? '¦' : '/'}${grouped(of('m:den'))}`,
  'm:sSup': (of) => base(of('m:e')) + raised(of('m:sup')),
  'm:sSub': (of) => base(of('m:e')) + lowered(of('m:sub')),
  'm:sSubSup': (of) => base(of('m:e')) + lowered(of('m:sub')) + raised(of('m:sup')),
  'm:sPre': (of) => lowered(of('m:sub')) + raised(of('m:sup')) + of('m:e'),
  'm:rad': (of) => root(of('m:deg')) + grouped(of('m:e')),
  'm:nary': (of, { properties }) => `${properties['m:chr'] ?? '∫'}${lowered(of('m:sub'))}${raised(of('m:sup'))} ${of('m:e')}`,
  'm:d': (_of, { operands, properties }) =>
    (properties['m:begChr'] ?? '(') + (operands['m:e'] ?? []).join(properties['m:sepChr'] ?? '|') + (properties['m:endChr'] ?? ')'),
  'm:func': (of) => `${of('m:fName')} ${of('m:e')}`,
  'm:limLow': (of) => of('m:e') + lowered(of('m:lim')),
  'm:limUpp': (of) => of('m:e') + raised(of('m:lim')),
  'm:eqArr': (_of, { operands }) => (operands['m:e'] ?? []).join('; '),
  'm:mr': (_of, { operands }) => (operands['m:e'] ?? []).join(' '),
  'm:m': (_of, { operands }) => (operands['m:mr'] ?? []).join('; '),
};

/** Writes an equation of an Office document (OMML) in one line, as one would type it: `(a+b)/2`, `x^2`, `√(a+b)`. */
export class Equation {
  readonly #write: (text: string) => void;
  readonly #open: Part[] = [newPart('m:oMath')];
  #length = 0;
  /** The equations that are open: one may stand in another. */
  #depth = 0;

  constructor(write: (text: string) => void) {
    this.#write = write;
  }

  /** Whether it has ended. */
  get isOver(): boolean {
    return this.#depth === 0;
  }

  open(name: string, value = ''): void {
    if (name === 'm:oMath') this.#depth += 1;
    const part = this.#open.at(-1) as Part;
    if (properties.has(name)) part.properties[name] = value.slice(0, maxSignLength);
    if (!isPart(name) && !operands.has(name)) return;
    this.#open.push(newPart(name));
    // It has signs of its own, also if it is empty.
    this.#grow(maxSignLength);
  }

  close(name: string): void {
    if (name === 'm:oMath' && --this.#depth === 0) this.end();
    if (this.#open.length === 1 || this.#open.at(-1)?.name !== name) return;
    const part = this.#open.pop() as Part;
    const of = (operand: string) => (part.operands[operand] ?? []).join('');
    const text = written[name]?.(of, part) ?? part.text;
    const around = this.#open.at(-1) as Part;
    if (isPart(name) && !operands.has(name)) append(around, text, true);
    else if (!isPart(around.name)) append(around, text, part.endsWithPart);
    else if (around.operands[name]) around.operands[name].push(text);
    else around.operands[name] = [text];
  }

  add(text: string): void {
    append(this.#open.at(-1) as Part, text, false);
    this.#grow(text.length);
  }

  #grow(by: number): void {
    this.#length += by;
    if (this.#length > maxLength) this.end();
  }

  /** Writes what there is of it. */
  end(): void {
    while (this.#open.length > 1) this.close(this.#open.at(-1)?.name ?? '');
    const [whole] = this.#open.splice(0, 1, newPart('m:oMath'));
    this.#length = 0;
    this.#write(whole?.text ?? '');
  }
}

function isPart(name: string): boolean {
  return Object.hasOwn(written, name);
}

/** Adds to the text of a part. A number beside a fraction is not one number with it: 2½ is `2 1/2`. */
function append(to: Part, text: string, endsWithPart: boolean): void {
  const isApart = (endsWithPart || to.endsWithPart) && /\p{N}$/u.test(to.text) && /^\p{N}/u.test(text);
  to.text += isApart ? ` ${text}` : text;
  if (text !== '') to.endsWithPart = endsWithPart;
}

function newPart(name: string): Part {
  return { name, text: '', operands: {}, properties: {}, endsWithPart: false };
}

/** In parentheses if it is more than a number, or names and numbers without a sign between them. */
function grouped(text: string): string {
  return /^(?:[\p{L}\p{M}\p{N}.,]+|\([^()]*\))$/u.test(text) ? text : `(${text})`;
}

/** What has a power or an index. */
function base(text: string): string {
  return text.includes('/') ? grouped(text) : text;
}

function root(degree: string): string {
  if (degree === '') return '√';
  if (degree === '3') return '∛';
  return degree === '4' ? '∜' : `√[${degree}]`;
}

function raised(text: string): string {
  return text === '' ? '' : `^${grouped(text)}`;
}

function lowered(text: string): string {
  return text === '' ? '' : `_${grouped(text)}`;
}
