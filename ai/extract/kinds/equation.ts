/** A longer one is written in pieces, so that no document fills the memory with one. */
const maxLength = 20_000;

/** A part of an equation that is open: its text so far, the texts of its operands by their elements, and what its properties say. */
interface Part {
  name: string;
  text: string;
  operands: Record<string, string[]>;
  properties: Record<string, string>;
}

const operands = new Set(['m:num', 'm:den', 'm:e', 'm:sub', 'm:sup', 'm:deg', 'm:lim', 'm:fName', 'm:mr']);
const properties = new Set(['m:begChr', 'm:endChr', 'm:sepChr', 'm:chr', 'm:type']);

/** How a part is written, by its element. Those that are not named here are their text. */
const written: Record<string, (of: (operand: string) => string, part: Part) => string> = {
  // Without a bar it is a binomial coefficient.
  'm:f': (of, { properties }) => `${grouped(of('m:num'))}${properties['m:type'] === 'noBar' ? '¦' : '/'}${grouped(of('m:den'))}`,
  'm:sSup': (of) => of('m:e') + raised(of('m:sup')),
  'm:sSub': (of) => of('m:e') + lowered(of('m:sub')),
  'm:sSubSup': (of) => of('m:e') + lowered(of('m:sub')) + raised(of('m:sup')),
  'm:sPre': (of) => lowered(of('m:sub')) + raised(of('m:sup')) + of('m:e'),
  'm:rad': (of) => `${of('m:deg')}√${grouped(of('m:e'))}`,
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

  constructor(write: (text: string) => void) {
    this.#write = write;
  }

  open(name: string, value = ''): void {
    const part = this.#open.at(-1) as Part;
    if (properties.has(name)) part.properties[name] = value;
    else if (name in written || operands.has(name)) this.#open.push(newPart(name));
  }

  close(name: string): void {
    if (this.#open.length === 1 || this.#open.at(-1)?.name !== name) return;
    const part = this.#open.pop() as Part;
    const of = (operand: string) => (part.operands[operand] ?? []).join('');
    const text = written[name]?.(of, part) ?? part.text;
    const around = this.#open.at(-1) as Part;
    if (!operands.has(name) || !(around.name in written)) around.text += text;
    else if (around.operands[name]) around.operands[name].push(text);
    else around.operands[name] = [text];
  }

  add(text: string): void {
    (this.#open.at(-1) as Part).text += text;
    this.#length += text.length;
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

function newPart(name: string): Part {
  return { name, text: '', operands: {}, properties: {} };
}

/** In parentheses if it is more than a number, or names and numbers without a sign between them. */
function grouped(text: string): string {
  return /^(?:[\p{L}\p{M}\p{N}.,]+|\([^()]*\))$/u.test(text) ? text : `(${text})`;
}

function raised(text: string): string {
  return text === '' ? '' : `^${grouped(text)}`;
}

function lowered(text: string): string {
  return text === '' ? '' : `_${grouped(text)}`;
}
