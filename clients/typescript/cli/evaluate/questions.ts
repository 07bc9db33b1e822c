import { exitCodes, Failure } from '../failure.ts';

export interface Question {
  question: string;
  /** Ids or names, in Unicode's form NFC: one of them has to be found. */
  documents: string[];
  /** What the sentences of an answer have to contain. */
  answer?: string;
}

/** In code points, as the service counts. */
const longest = 1000;
/** What the service takes in no question. */
const unasked = /[\p{Cc}\p{Cs}\u2028\u2029]/u;

/** Reads questions, each a JSON object on a line of its own. Throws Failure, which tells every bad line by its number. */
export function parseQuestions(text: string, isKnown: (document: string) => boolean): Question[] {
  const lines = new Map<string, number>();
  const found: Question[] = [];
  const bad: string[] = [];
  for (const [index, line] of text.split('\n').entries()) {
    // Programs of Windows begin a text with a byte order mark, which counts as white space.
    const trimmed = line.trim();
    if (trimmed === '') continue;
    try {
      const asked = toQuestion(JSON.parse(trimmed));
      const [first, unknown] = [lines.get(asked.question), asked.documents.filter((document) => !isKnown(document))];
      if (first !== undefined) throw new Error(`the same question as line ${first}`);
      if (unknown.length > 0) throw new Error(`the workspace has no document ${unknown.join(', ')}`);
      lines.set(asked.question, index + 1);
      found.push(asked);
    } catch (error) {
      bad.push(`\n  line ${index + 1}: ${(error as Error).message}`);
    }
  }
  if (bad.length > 0) throw new Failure(`These questions cannot be asked:${bad.join('')}`, exitCodes.misunderstood);
  if (found.length === 0) throw new Failure('There are no questions.', exitCodes.misunderstood);
  return found;
}

function toQuestion(value: unknown): Question {
  const { question, documents, answer, ...others } = Object(value) as Record<string, unknown>;
  const isText = (text: unknown): text is string => typeof text === 'string' && text.trim() !== '';
  if (!isText(question) || [...question.trim()].length > longest || unasked.test(question.trim()))
    throw new Error(`question is no line of at most ${longest} characters`);
  if (!Array.isArray(documents) || documents.length === 0 || !documents.every(isText))
    throw new Error('documents is no list of ids or names');
  if (answer !== undefined && !isText(answer)) throw new Error('answer is no text');
  if (Object.keys(others).length > 0) throw new Error(`there is no field ${Object.keys(others).join(', ')}`);
  // A name that macOS gave a file may have its accents apart.
  return { question: question.trim(), documents: documents.map((name) => name.normalize()), ...(answer ? { answer } : {}) };
}
