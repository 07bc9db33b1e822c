import type { Archive } from '../office/archive.ts';
import { showListNumber } from '../office/number-words.ts';
import { scanXml } from '../office/scan-xml.ts';

/** Word has nine levels, from 0. */
const levels = 9;

interface Level {
  start: number;
  form: string;
  /** Such as `%1.%2`. */
  text: string;
  /** All numbers in it are shown in digits. */
  isLegal: boolean;
  /** The level, from 1, behind which it begins anew; 0 if it goes on. Any higher one if absent. */
  restart: number | undefined;
  /** The style whose paragraphs have this level. */
  style: string | undefined;
}

interface List {
  levels: Map<number, Level>;
  /** The style that defines it, if it is defined there. */
  link: string | undefined;
}

interface UsedList {
  list: string;
  starts: Map<number, number>;
  levels: Map<number, Level>;
}

/** The list of a paragraph, by its id, and the level in it. */
export interface ListPlace {
  list: string;
  level: number | undefined;
}

/** The lists of a Word document, which count its paragraphs in their order. */
export class WordNumbering {
  readonly #lists = new Map<string, List>();
  readonly #used = new Map<string, UsedList>();
  readonly #counts = new Map<string, number[]>();
  readonly #begun = new Set<string>();

  static async read(archive: Archive, part: string): Promise<WordNumbering> {
    const numbering = new WordNumbering();
    if (archive.has(part)) await numbering.#read(archive, part);
    return numbering;
  }

  /** The number of the next paragraph of a list, such as `2.2`; '' for bullets. `style` is that of the paragraph. */
  next({ list: id, level: given }: ListPlace, style: string | undefined): string {
    const used = this.#used.get(id);
    const list = this.#lists.get(used?.list ?? '');
    if (!used || !list) return '';
    const at = given ?? this.#levelOfStyle(list, style) ?? 0;
    if (at < 0 || at >= levels) return '';
    const counts = this.#counts.get(used.list) ?? [];
    this.#counts.set(used.list, counts);
    const levelAt = (index: number) => used.levels.get(index) ?? list.levels.get(index);
    const startOf = (index: number) => used.starts.get(index) ?? levelAt(index)?.start ?? 1;
    if (!this.#begun.has(id)) for (const index of used.starts.keys()) delete counts[index];
    this.#begun.add(id);
    counts[at] = (counts[at] ?? startOf(at) - 1) + 1;
    for (let deeper = at + 1; deeper < levels; deeper += 1) {
      const restart = levelAt(deeper)?.restart;
      if (restart === undefined || restart > at) delete counts[deeper];
    }
    const shown = levelAt(at);
    if (!shown || shown.form === 'bullet') return '';
    return shown.text.replace(/%([1-9])/g, (_, digit: string) => {
      const index = Number(digit) - 1;
      counts[index] ??= startOf(index);
      return showListNumber(counts[index], shown.isLegal ? 'decimal' : (levelAt(index)?.form ?? 'decimal'));
    });
  }

  #levelOfStyle(list: List, style: string | undefined): number | undefined {
    for (const [index, level] of list.levels) if (style !== undefined && level.style === style) return index;
    return undefined;
  }

  async #read(archive: Archive, part: string): Promise<void> {
    let list: List | undefined;
    let used: UsedList | undefined;
    let at = 0;
    let level: Level | undefined;
    const links = new Map<string, string>();
    await scanXml(archive.readText(part), {
      open: (name, attributes) => {
        const value = attributes['w:val'] ?? '';
        const id = attributes['w:abstractNumId'] ?? '';
        if (name === 'w:abstractNum') {
          list = { levels: new Map(), link: undefined };
          this.#lists.set(id, list);
        } else if (name === 'w:numStyleLink' && list) list.link = value;
        else if (name === 'w:styleLink' && list) links.set(value, [...this.#lists.keys()].at(-1) ?? '');
        else if (name === 'w:num') {
          used = { list: '', starts: new Map(), levels: new Map() };
          this.#used.set(attributes['w:numId'] ?? '', used);
        } else if (name === 'w:abstractNumId' && used) used.list = value;
        else if (name === 'w:lvlOverride') at = Number(attributes['w:ilvl']);
        else if (name === 'w:startOverride') used?.starts.set(at, Number(value));
        else if (name === 'w:lvl') {
          level = { start: 1, form: 'decimal', text: '', isLegal: false, restart: undefined, style: undefined };
          (used ?? list)?.levels.set(Number(attributes['w:ilvl']), level);
        } else if (level) setLevel(level, name, value);
      },
      close: (name) => {
        if (name === 'w:lvl') level = undefined;
        else if (name === 'w:abstractNum') list = undefined;
        else if (name === 'w:num') used = undefined;
      },
    });
    for (const one of this.#used.values()) one.list = links.get(this.#lists.get(one.list)?.link ?? '') ?? one.list;
  }
}

function setLevel(level: Level, name: string, value: string): void {
  if (name === 'w:start') level.start = Number(value);
  else if (name === 'w:numFmt') level.form = value;
  else if (name === 'w:lvlText') level.text = value;
  else if (name === 'w:isLgl') level.isLegal = !['0', 'false', 'off'].includes(value);
  else if (name === 'w:lvlRestart') level.restart = Number(value);
  else if (name === 'w:pStyle') level.style = value;
}
