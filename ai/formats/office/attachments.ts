import type { RawText } from '../document.ts';
import type { ReadEmbedded } from '../embedded-file.ts';
import type { Notice } from '../notice.ts';
import type { Archive } from './archive.ts';
import { unpackObject } from './unpack-object.ts';

/** The unit of lengths in Office documents since 2007. */
export const emuPerCm = 360_000;
/** A third of a page of A4, in square centimetres. */
const largePicture = 208;
/** With less text beside each, large pictures may be pictures of text. */
export const minBesidePicture = 150;
export const textInPictures = 'text in large pictures';

/** What an Office document holds beside its text: objects of other programs, of which it shows pictures, and what is not read of it. */
export class Attachments {
  /** What is not read, in words. */
  readonly unread: string[] = [];
  readonly #attached: string[] = [];
  readonly #notices: Notice[] = [];
  /** The programs of the objects, by the names of their parts. */
  readonly #objects = new Map<string, string | undefined>();
  /** Whether it has comments, which stand beside what it shows. */
  hasComments = false;
  /** How many pictures have the size of a page, or nearly so. */
  #largePictures = 0;

  /** Takes an object. Newer and older programs may find it at two places; its part is undefined if it lies outside of the document. */
  addObject(part: string | undefined, program: string | undefined): void {
    if (part === undefined) this.unread.push(nameObject(program));
    else if (!this.#objects.has(part)) this.#objects.set(part, program);
  }

  /** Takes a picture of this size, in centimetres. */
  addPicture(width: number, height: number): void {
    if (width * height > largePicture) this.#largePictures += 1;
  }

  /** Tells of the pictures if there is little text beside them. */
  noticePictures(characters: number): void {
    if (characters < minBesidePicture * this.#largePictures) this.unread.push(textInPictures);
  }

  /** Takes what a document holds that is put into this one. */
  add({ attached = [], notices = [] }: Pick<RawText, 'attached' | 'notices'>): void {
    this.#attached.push(...attached);
    this.#notices.push(...notices);
  }

  /** Reads the objects, as long as they have no more than so many bytes together. */
  async read(archive: Archive, readEmbedded: ReadEmbedded, maxBytes: number): Promise<Pick<RawText, 'attached' | 'notices'>> {
    let restBytes = maxBytes;
    for (const [part, program] of this.#objects) {
      const bytes = archive.sizeOf(part) <= restBytes ? await archive.readWhole(part, restBytes) : undefined;
      restBytes -= bytes?.length ?? 0;
      const file = bytes && unpackObject(bytes, part, program);
      const found = file && (await readEmbedded(file));
      if (!found) this.unread.push(file && !file.name.endsWith('.bin') ? `the file ${file.name}` : nameObject(program));
      else this.add({ attached: [found.text], notices: found.notices });
    }
    const notices = [...noticesOfUnread(this.unread), ...(this.hasComments ? [commentsLeftOut] : []), ...this.#notices];
    return { attached: this.#attached, notices };
  }
}

export const commentsLeftOut: Notice = { code: 'notes_left_out', text: 'The document has comments, which were left out.' };

/** An object of another program. */
export function nameObject(program = 'of an unknown kind'): string {
  return `an embedded object (${program})`;
}

/** Says what of a document was not read. */
export function noticesOfUnread(unread: readonly string[]): Notice[] {
  const names = [...new Set(unread)];
  return names.length === 0 ? [] : [{ code: 'part_not_read', text: `Not read: ${names.join(', ')}.` }];
}
