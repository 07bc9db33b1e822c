import { sql } from 'kysely';
import { stemOf } from '../../base/text/stems.ts';
import type { Transaction } from '../../db/connect.ts';
import { workspaceKeyOf } from './postings.ts';
import type { QueryWord } from './read-query.ts';

/** Shorter words have too many neighbors, longer ones are not misspelled by one letter alone. */
const [minMisspelled, maxMisspelled] = [5, 32];
const minPart = 4;
/** Minimum length of a compound's other part: an ending makes no compound. */
const minOtherPart = 4;
/** How many postings of compounds are looked through for each word and end. */
const maxLookedThrough = 2_000;

/** A word of a query that few chunks of the workspace have, or none. */
export interface RareWord extends QueryWord {
  isUnknown: boolean;
}

/**
 * Terms that may be in the workspace and that words of a query may mean: compounds with the word, the word with `ü` for `ue`, and, of an
 * unknown one, with one letter more, less, other or swapped.
 */
export async function findNearTerms(
  trx: Transaction,
  workspaceId: string,
  rare: RareWord[],
  language: string | undefined,
): Promise<string[]> {
  const umlauts = rare.flatMap(({ word }) => (/[aou]e/.test(word) ? word.replaceAll(/(?<=[aou])e/g, '') : []));
  const respelled = rare.flatMap(({ word, isUnknown }) => (isUnknown ? respellingsOf(word) : []));
  const near = [...umlauts, ...respelled].flatMap((word) => [word, stemOf(word, language)]);
  return [...new Set([...near, ...(await findCompounds(trx, workspaceId, rare))])];
}

/** All words that differ from this one by a letter. */
function respellingsOf(word: string): string[] {
  const respelled: string[] = [];
  const letters = word.length < minMisspelled || word.length > maxMisspelled ? [] : alphabetOf(word);
  for (let at = 0; at <= word.length && letters.length > 0; at += 1) {
    const [before, next, after] = [word.slice(0, at), word.slice(at, at + 1), word.slice(at + 1)];
    respelled.push(before + after, before + after.slice(0, 1) + next + after.slice(1));
    for (const letter of letters) respelled.push(before + letter + after, before + letter + next + after);
  }
  return respelled;
}

/** The small letters of the block of Unicode that has the word's first letter: a to z, а to џ. */
function alphabetOf(word: string): string[] {
  const first = word.charCodeAt(0) & ~0x7f;
  const block = Array.from({ length: 0x80 }, (_, offset) => String.fromCharCode(first + offset));
  return block.filter((letter) => /[\p{L}\p{M}]/u.test(letter) && letter === letter.toLowerCase());
}

/** Terms of the workspace that begin or end with one of these words. */
async function findCompounds(trx: Transaction, workspaceId: string, words: QueryWord[]): Promise<string[]> {
  const parts = [...new Set(words.flatMap(({ terms }) => terms))].filter((one) => one.length >= minPart);
  if (parts.length === 0) return [];
  const key = workspaceKeyOf(workspaceId);
  const { rows } = await sql<{ term: string }>`
    select distinct term from unnest(${parts}::text[]) as wanted (stem) cross join lateral (
      (
        select term from posting
        where workspace_key = ${key} and term > stem and term < stem || chr(1114111) limit ${sql.lit(maxLookedThrough)}
      ) union all (
        select term from posting
        where workspace_key = ${key} and part = 0 and length(term) >= 8
          and reverse(term) > reverse(stem) and reverse(term) < reverse(stem) || chr(1114111) limit ${sql.lit(maxLookedThrough)}
      )
    ) as compound where length(term) >= length(stem) + ${sql.lit(minOtherPart)}
  `.execute(trx);
  return rows.map(({ term }) => term).filter((term) => /^[\p{L}\p{M}]+$/u.test(term));
}
