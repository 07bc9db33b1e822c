import { splitSentences } from '../../base/text/split-sentences.ts';
import { endOfCharacters } from '../characters.ts';
import { type Block, splitBlocks } from './split-blocks.ts';

const maxSentenceLength = 600;

/** A sentence that may stand in the summary. */
export interface Candidate {
  text: string;
  /** It is the first sentence of its paragraph. */
  opensParagraph: boolean;
}

/** The sentences of a text in order, without duplicates, and its headings, which name its subject. */
export function findCandidates(text: string): { candidates: Candidate[]; headings: string[] } {
  const blocks = splitBlocks(text);
  const headings = blocks.filter((block) => block.kind === 'heading').map((block) => block.text);
  let candidates = fromBlocks(blocks.filter((block) => block.kind === 'prose'));
  // List items count only if there is hardly any prose, table rows only if there are no items either.
  if (candidates.length < 3) candidates = fromBlocks(blocks.filter((block) => block.kind === 'prose' || block.kind === 'item'));
  else candidates = fromBlocks(blocks.filter((block) => block.kind === 'prose' || (block.kind === 'item' && isSentence(block.text))));
  if (candidates.length === 0) candidates = fromBlocks(withoutHeader(blocks));
  return { candidates, headings };
}

function fromBlocks(blocks: Block[]): Candidate[] {
  const seen = new Set<string>();
  const candidates: Candidate[] = [];
  for (const block of blocks) {
    const sentences = block.kind === 'row' || block.kind === 'heading' ? [block.text] : splitSentences(block.text);
    for (const [index, sentence] of sentences.flatMap(shorten).entries()) {
      const key = sentence.toLowerCase().replace(/[^\p{L}\p{N}]+/gu, ' ');
      if (!/[\p{L}\p{N}]/u.test(sentence) || seen.has(key)) continue;
      seen.add(key);
      candidates.push({ text: sentence, opensParagraph: index === 0 });
    }
  }
  return candidates;
}

/** Drops the first row of a table if it is the header: it has no number while all others do. */
function withoutHeader(blocks: Block[]): Block[] {
  const first = blocks.findIndex((block) => block.kind === 'row');
  const others = blocks.slice(first + 1).filter((block) => block.kind === 'row');
  const isHeader = others.length > 0 && !hasNumber(blocks[first]) && others.every(hasNumber);
  return isHeader ? blocks.toSpliced(first, 1) : blocks;
}

function hasNumber(block: Block | undefined): boolean {
  return /\p{N}/u.test(block?.text ?? '');
}

function isSentence(text: string): boolean {
  return text.length >= 40 && /[.!?。！？]$/u.test(text);
}

/** Cuts a sentence of more than 600 characters between clauses, at worst between words. */
function shorten(sentence: string): string[] {
  const parts: string[] = [];
  let rest = sentence;
  for (let end = endOfCharacters(rest, maxSentenceLength); end < rest.length; end = endOfCharacters(rest, maxSentenceLength)) {
    const head = rest.slice(0, end);
    const clause = Math.max(head.lastIndexOf('; '), head.lastIndexOf('；'), head.lastIndexOf(' – '), head.lastIndexOf(' • '));
    const space = head.lastIndexOf(' ');
    const cut = clause > 100 ? clause + 1 : space > 100 ? space : end;
    parts.push(rest.slice(0, cut).toWellFormed().trim());
    rest = rest.slice(cut).trim();
  }
  return rest === '' ? parts : [...parts, rest];
}
