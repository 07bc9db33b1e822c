import type { Archive } from '../office/archive.ts';
import { scanXml } from '../office/scan-xml.ts';
import type { ListPlace } from './word-numbering.ts';

/** Word itself knows no longer chains. */
const maxChainLength = 20;
const stylesOfText = new Set(['paragraph', 'character']);
const builtIn = /^heading ?([1-9])$/i;

interface Style {
  name: string;
  basedOn: string | undefined;
  /** The level that it sets; null for body text. */
  level: number | null | undefined;
  /** The list that it puts paragraphs into, and the level in it. */
  list: string | undefined;
  listLevel: number | undefined;
  hidden: boolean | undefined;
  font: string | undefined;
}

/** What styles say, by their ids. */
export interface WordStyles {
  /** The level of a heading, 1 for the outermost; undefined for a style of body text. */
  level(styleId: string): number | undefined;
  /** The list that a style puts its paragraphs into; undefined if none. */
  list(styleId: string): ListPlace | undefined;
  /** Whether text of a style is hidden. */
  hides(styleId: string): boolean;
  /** The font of a style; undefined if it names none. */
  font(styleId: string): string | undefined;
}

/**
 * Reads the styles of a Word document. Headings are those with an outline level, those that are built in, which have their English names in
 * any language, and those that are based on such a one. Without the file of the styles their ids say it.
 */
export async function readWordStyles(archive: Archive, part: string): Promise<WordStyles> {
  const styles = new Map<string, Style>();
  if (!archive.has(part)) return { level: levelByName, list: () => undefined, hides: () => false, font: () => undefined };
  let current: Style | undefined;
  await scanXml(archive.readText(part), {
    open(name, attributes) {
      const value = attributes['w:val'] ?? '';
      if (name === 'w:style' && stylesOfText.has(attributes['w:type'] ?? '')) {
        const unset = { basedOn: undefined, level: undefined, list: undefined, listLevel: undefined, hidden: undefined, font: undefined };
        current = { name: '', ...unset };
        styles.set(attributes['w:styleId'] ?? '', current);
      } else if (!current) return;
      else if (name === 'w:name') current.name = value;
      else if (name === 'w:basedOn') current.basedOn = value;
      else if (name === 'w:outlineLvl') current.level = toLevel(value);
      else if (name === 'w:numId') current.list = value;
      else if (name === 'w:ilvl') current.listLevel = Number(value);
      else if (name === 'w:rFonts') current.font = fontOf(attributes);
      else if (name === 'w:vanish') current.hidden = !['0', 'false', 'off'].includes(value);
    },
    close(name) {
      if (name === 'w:style') current = undefined;
    },
  });
  const first = <T>(styleId: string, find: (style: Style) => T | undefined) => findInChain(styles, styleId, find);
  return {
    level: (id) => first(id, ({ level, name }) => (level === undefined ? levelByName(name) : level)) ?? undefined,
    list(id) {
      const list = first(id, (style) => style.list);
      return list === undefined ? undefined : { list, level: first(id, (style) => style.listLevel) };
    },
    hides: (id) => first(id, ({ hidden }) => hidden) ?? false,
    font: (id) => first(id, ({ font }) => font),
  };
}

/** The font of `w:rFonts` for what is no Asian or complex script: one of the theme comes before one by its name. */
export function fontOf(attributes: Record<string, string>): string | undefined {
  return attributes['w:asciiTheme'] ?? attributes['w:ascii'] ?? attributes['w:hAnsi'];
}

/** The level of an outline level, which counts from 0; null for body text. */
export function toLevel(outlineLevel: string): number | null {
  return /^[0-8]$/.test(outlineLevel) ? Number(outlineLevel) + 1 : null;
}

/** What a style says, or the one that it is based on. */
function findInChain<T>(styles: ReadonlyMap<string, Style>, styleId: string, find: (style: Style) => T | undefined): T | undefined {
  let style = styles.get(styleId);
  for (let links = 0; style && links < maxChainLength; links += 1) {
    const found = find(style);
    if (found !== undefined) return found;
    style = style.basedOn === undefined ? undefined : styles.get(style.basedOn);
  }
  return undefined;
}

function levelByName(name: string): number | undefined {
  const [, digit] = builtIn.exec(name) ?? [];
  return digit === undefined ? undefined : Number(digit);
}
