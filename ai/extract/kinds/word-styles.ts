import type { Archive } from './archive.ts';
import { scanXml } from './scan-xml.ts';

/** Word itself knows no longer chains. */
const maxChainLength = 20;
const builtIn = /^heading ?([1-9])$/i;

interface Style {
  name: string;
  basedOn: string | undefined;
  /** The level that it sets; null for body text. */
  level: number | null | undefined;
}

/** Returns the level of a heading by the id of the style of its paragraph, 1 for the outermost; undefined for a style of body text. */
export type HeadingLevels = (styleId: string) => number | undefined;

/**
 * Reads which styles of a Word document are headings: those with an outline level, those that are built in, which have their English names in
 * any language, and those that are based on such a one. Without the file of the styles their ids say it.
 */
export async function readHeadingLevels(archive: Archive, part: string): Promise<HeadingLevels> {
  const styles = new Map<string, Style>();
  if (!archive.has(part)) return levelByName;
  let current: Style | undefined;
  await scanXml(archive.readText(part), {
    open(name, attributes) {
      const value = attributes['w:val'] ?? '';
      if (name === 'w:style' && attributes['w:type'] === 'paragraph') {
        current = { name: '', basedOn: undefined, level: undefined };
        styles.set(attributes['w:styleId'] ?? '', current);
      } else if (!current) return;
      else if (name === 'w:name') current.name = value;
      else if (name === 'w:basedOn') current.basedOn = value;
      else if (name === 'w:outlineLvl') current.level = toLevel(value);
    },
    close(name) {
      if (name === 'w:style') current = undefined;
    },
  });
  return (styleId) => findLevel(styles, styleId);
}

/** The level of an outline level, which counts from 0; null for body text. */
export function toLevel(outlineLevel: string): number | null {
  return /^[0-8]$/.test(outlineLevel) ? Number(outlineLevel) + 1 : null;
}

function findLevel(styles: ReadonlyMap<string, Style>, styleId: string): number | undefined {
  let style = styles.get(styleId);
  for (let links = 0; style && links < maxChainLength; links += 1) {
    if (style.level !== undefined) return style.level ?? undefined;
    const level = levelByName(style.name);
    if (level !== undefined) return level;
    style = style.basedOn === undefined ? undefined : styles.get(style.basedOn);
  }
  return undefined;
}

function levelByName(name: string): number | undefined {
  const [, digit] = builtIn.exec(name) ?? [];
  return digit === undefined ? undefined : Number(digit);
}
