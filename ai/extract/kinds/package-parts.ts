import { posix } from 'node:path';
import type { Archive } from './archive.ts';
import { damaged } from './archive.ts';
import { scanXml } from './scan-xml.ts';

/** The part of an Office document whose content type ends so, by its name in the archive. Throws if there is none: it is another kind. */
export async function findMainPart(archive: Archive, typeEnds: RegExp, kind: string): Promise<string> {
  let found: string | undefined;
  if (!archive.has('[Content_Types].xml')) throw damaged(kind);
  await scanXml(archive.readText('[Content_Types].xml'), {
    open(name, { PartName = '', ContentType = '' }) {
      if (name === 'Override' && typeEnds.test(ContentType)) found ??= PartName.replace(/^\//, '');
    },
  });
  if (found === undefined || !archive.has(found)) throw damaged(kind);
  return found;
}

/** The parts that a part refers to, by the ids of the relationships. Those outside of the archive are left out. */
export async function readRelationships(archive: Archive, part: string): Promise<Map<string, string>> {
  const targets = new Map<string, string>();
  const file = `${posix.dirname(part)}/_rels/${posix.basename(part)}.rels`;
  if (!archive.has(file)) return targets;
  await scanXml(archive.readText(file), {
    open(name, { Id, Target, TargetMode }) {
      if (name !== 'Relationship' || Id === undefined || Target === undefined || TargetMode === 'External') return;
      const path = Target.startsWith('/') ? Target.slice(1) : posix.join(posix.dirname(part), Target);
      if (archive.has(path)) targets.set(Id, path);
    },
  });
  return targets;
}
