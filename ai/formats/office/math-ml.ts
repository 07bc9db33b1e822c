import { Equation } from './equation.ts';

/** The parts of MathML that mean something by their place, as an equation of Office names them and their operands. */
const parts: Record<string, [part: string, ...operands: string[]]> = {
  mfrac: ['m:f', 'm:num', 'm:den'],
  msup: ['m:sSup', 'm:e', 'm:sup'],
  mover: ['m:sSup', 'm:e', 'm:sup'],
  msub: ['m:sSub', 'm:e', 'm:sub'],
  munder: ['m:sSub', 'm:e', 'm:sub'],
  msubsup: ['m:sSubSup', 'm:e', 'm:sub', 'm:sup'],
  munderover: ['m:sSubSup', 'm:e', 'm:sub', 'm:sup'],
  mroot: ['m:rad', 'm:e', 'm:deg'],
  msqrt: ['m:rad', 'm:e'],
  mfenced: ['m:d', 'm:e'],
  mtable: ['m:m', 'm:mr'],
  mtr: ['m:mr', 'm:e'],
};
/** What a formula also holds: how it was typed. */
const besides = new Set(['annotation', 'annotation-xml']);
/** Signs that are not shown: a function is applied, with a blank as in `sin x`, or factors are multiplied. */
const applied = /\u2061/g;
const unseen = /[\u2062-\u2064]/g;
const blanks = /[ \t\r\n]+/g;
const outerBlanks = /^[ \t\r\n]+|(?<![ \t\r\n])[ \t\r\n]+$/g;

/** Writes a formula of MathML in one line, as one would type it. */
export class MathMl {
  readonly #equation: Equation;
  /** The elements that are open: the operand that each is, and those that its own children are, in their order. */
  readonly #open: { operand: string | undefined; operands: string[]; part: string | undefined; isText: boolean }[] = [];
  #besides = 0;

  constructor(write: (text: string) => void) {
    this.#equation = new Equation(write);
  }

  open(name: string): void {
    if (besides.has(name)) this.#besides += 1;
    const rest = this.#open.at(-1)?.operands ?? [];
    // What follows the last operand belongs to it: a root has everything within it.
    const operand = rest.length > 1 ? rest.shift() : rest[0];
    const [part, ...operands] = Object.hasOwn(parts, name) ? (parts[name] ?? []) : [];
    this.#open.push({ operand, operands, part, isText: name === 'mtext' });
    if (operand !== undefined && operand !== part) this.#equation.open(operand);
    if (part !== undefined) this.#equation.open(part);
    if (name === 'mfenced') this.#equation.open('m:sepChr', ',');
  }

  close(name: string): void {
    if (besides.has(name)) this.#besides -= 1;
    const { operand, part } = this.#open.pop() ?? {};
    if (part !== undefined) this.#equation.close(part);
    if (operand !== undefined && operand !== part) this.#equation.close(operand);
  }

  add(text: string): void {
    if (this.#besides > 0) return;
    // Blanks mean something only in words.
    const shown = this.#open.at(-1)?.isText ? text.replace(blanks, ' ') : text.replace(outerBlanks, '');
    this.#equation.add(shown.replace(applied, ' ').replace(unseen, ''));
  }

  end(): void {
    this.#equation.end();
  }
}
