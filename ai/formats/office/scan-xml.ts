import { Parser } from 'htmlparser2';
import { ServiceError } from '../../service-error.ts';
import { XmlPrefixes } from './xml-prefixes.ts';

/** No document that a person has written nests deeper. */
const maxDepth = 256;

interface XmlHandlers {
  open?(name: string, attributes: Record<string, string>): void;
  close?(name: string): void;
  text?(text: string): void;
  /** Whether enough was read, so that reading can stop. */
  enough?(): boolean;
}

/**
 * Reads XML piece by piece without building a tree. It follows no reference to another file and knows no entities but XML's own five.
 * Elements and attributes of office documents have their usual prefixes, whatever the document calls them.
 * Throws ServiceError 422 `unreadable_document` for one that declares entities, or nests too deeply.
 */
export async function scanXml(pieces: AsyncIterable<string> | Iterable<string>, handlers: XmlHandlers): Promise<void> {
  let depth = 0;
  const prefixes = new XmlPrefixes();
  const parser = new Parser(
    {
      onopentag(name, attributes) {
        depth += 1;
        if (depth > maxDepth) throw refused(`The document nests more than ${maxDepth} parts.`);
        const usual = prefixes.open(name, attributes);
        handlers.open?.(usual.name, usual.attributes);
      },
      onclosetag(name) {
        depth -= 1;
        handlers.close?.(prefixes.close(name));
      },
      ontext: (text) => handlers.text?.(text),
      onprocessinginstruction(_name, data) {
        if (/^!doctype[\s\S]*(?:\[|!entity)/i.test(data) || /^!entity/i.test(data))
          throw refused('The document declares entities, which are not read.');
      },
    },
    { xmlMode: true },
  );
  for await (const piece of pieces) {
    parser.write(piece);
    if (handlers.enough?.()) return;
  }
  parser.end();
}

/** Reads a part of a workbook. Some programs write its elements with a prefix, others without. */
export function scanWorkbook(pieces: AsyncIterable<string>, { open, close, ...handlers }: XmlHandlers): Promise<void> {
  return scanXml(pieces, {
    ...handlers,
    open: (name, attributes) => open?.(localName(name), attributes),
    close: (name) => close?.(localName(name)),
  });
}

/** The name of an element without the prefix of its namespace, which each program chooses for itself. */
export function localName(name: string): string {
  return name.slice(name.indexOf(':') + 1);
}

function refused(message: string): ServiceError {
  return new ServiceError(422, 'unreadable_document', message);
}
