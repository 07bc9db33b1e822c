import { posix } from 'node:path';
import type { Archive } from './archive.ts';
import { damaged } from './archive.ts';
import { localName, scanXml } from './scan-xml.ts';

const contentTypes = '[Content_Types].xml';

/** A reference of a part: another part of the archive, and their relation. */
export interface Relationship {
  target: string;
  /** A URL whose last segment says what the target is, such as `sharedStrings`. */
  type: string;
}

/**
 * The main part of an Office document, by its name in the archive: the one that the document itself refers to, or else the first whose
 * content type ends so. Throws if there is none with such a type: it is another kind.
 */
export async function findMainPart(archive: Archive, typeEnds: RegExp, kind: string): Promise<string> {
  if (!archive.has(contentTypes)) throw damaged(kind);
  const main = targetOfType(await readRelationships(archive, ''), 'officeDocument');
  let [ofMain, ofExtension, first]: (string | undefined)[] = [];
  await scanXml(archive.readText(contentTypes), {
    open(name, { PartName = '', Extension, ContentType = '' }) {
      const part = PartName.replace(/^\//, '');
      if (localName(name) === 'Override') {
        if (part.toLowerCase() === main?.toLowerCase()) ofMain = ContentType;
        if (typeEnds.test(ContentType) && archive.has(part)) first ??= part;
      } else if (localName(name) === 'Default' && main && `.${Extension}`.toLowerCase() === posix.extname(main).toLowerCase())
        ofExtension = ContentType;
    },
  });
  const found = main !== undefined && typeEnds.test(ofMain ?? ofExtension ?? '') ? main : first;
  if (found === undefined) throw damaged(kind);
  return found;
}

/** The parts that a part refers to, by the ids of the relationships; '' is the document. Those outside of the archive are left out. */
export async function readRelationships(archive: Archive, part: string): Promise<Map<string, Relationship>> {
  const found = new Map<string, Relationship>();
  const folder = part === '' ? '' : posix.dirname(part);
  const file = posix.join(folder, '_rels', `${posix.basename(part)}.rels`);
  if (!archive.has(file)) return found;
  await scanXml(archive.readText(file), {
    open(name, { Id, Target, TargetMode, Type = '' }) {
      if (localName(name) !== 'Relationship' || Id === undefined || Target === undefined || TargetMode === 'External') return;
      const target = Target.startsWith('/') ? Target.slice(1) : posix.join(folder, Target);
      if (archive.has(target)) found.set(Id, { target, type: Type });
    },
  });
  return found;
}

/** The first part with this relation, such as `sharedStrings`; undefined if there is none. */
export function targetOfType(relationships: Map<string, Relationship>, type: string): string | undefined {
  for (const found of relationships.values()) if (found.type.endsWith(`/${type}`)) return found.target;
  return undefined;
}

/** The part that an element refers to by its attribute `r:id`, or another one of relationships, whatever the prefix. */
export function referredPart(
  relationships: ReadonlyMap<string, Relationship>,
  attributes: Record<string, string>,
  attribute = 'id',
): string | undefined {
  const reference = Object.keys(attributes).find((name) => name.endsWith(`:${attribute}`));
  return reference === undefined ? undefined : relationships.get(attributes[reference] ?? '')?.target;
}
