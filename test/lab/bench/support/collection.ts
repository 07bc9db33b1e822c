import { existsSync, readdirSync, readFileSync } from 'node:fs';

/** Documents, and questions with the ids of the documents that respond to them. */
export interface Collection {
  name: string;
  documents: { id: string; text: string }[];
  questions: { query: string; relevant: string[] }[];
}

/**
 * The collections below a directory, each in a directory of its name with three files: `documents` and `queries` in the format of the SMART
 * system, and `judgements`, whose lines name a query by its place from 1, a document by its id, and -1 if it is not relevant after all.
 */
export function readCollections(directory: string): Collection[] {
  if (!existsSync(directory)) return [];
  return readdirSync(directory, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => readCollection(name, `${directory}/${name}`));
}

function readCollection(name: string, directory: string): Collection {
  const read = (file: string) => readFileSync(`${directory}/${file}`, 'latin1');
  const documents = readSmart(read('documents')).filter(({ text }) => text !== '');
  const relevant = new Map<string, string[]>();
  for (const line of read('judgements').split('\n')) {
    const [query, document, grade] = line.trim().split(/\s+/);
    if (query && document && grade !== '-1') relevant.set(query, [...(relevant.get(query) ?? []), document]);
  }
  const questions = readSmart(read('queries')).map(({ text }, place) => ({ query: text, relevant: relevant.get(String(place + 1)) ?? [] }));
  return { name, documents, questions: questions.filter((question) => question.relevant.length > 0) };
}

/** The title and the text of each record. */
function readSmart(file: string): { id: string; text: string }[] {
  return file
    .split(/^\.I /m)
    .slice(1)
    .map((record) => {
      const [id = '', ...sections] = record.split(/^\.([A-Z])\s*$/m);
      const texts = sections.flatMap((section, index) => (index % 2 === 1 && /[TW]/.test(sections[index - 1] ?? '') ? [section] : []));
      return { id: id.trim(), text: texts.join(' ').replaceAll(/\s+/g, ' ').trim() };
    });
}
