import { type RawBuilder, sql } from 'kysely';
import type { Db } from '../../db/connect.ts';
import type { LentBytes } from '../../db/lent-bytes.ts';
import type { DocumentScope } from '../documents/document-scope.ts';
import { postingLength } from './postings.ts';
import { termKeyOf, workspaceKeyOf } from './term-keys.ts';
import { queryTermsOf } from './terms.ts';

/** Further terms of a long query are not looked for. */
const mostTerms = 64;
/**
 * A query reads no more postings. If its terms have more together, the commonest, which tell least, are left out; if the rarest alone has
 * more, those of the latest documents are read.
 */
const mostPostings = 1_000_000;
/** About how many bytes of postings a row brings: V8 collects larger strings with its old generation alone, which delays others. */
const bytesPerRow = 32_768;

/** The postings of one term in a range of documents. */
export interface TermPostings {
  /** How many chunks of the workspace have the term. */
  frequency: number;
  /** How many chunks the workspace has, and how many terms these have, with repetitions. */
  chunks: number;
  terms: number;
  /** The number of each document and its postings, all of them parted by spaces; a document may come several times. */
  documents: LentBytes;
}

/**
 * Reads the postings of a query's terms in one statement, so that all counts are of the same moment. The terms are counted before their
 * postings are collected: those that are left out take no memory. The counts are of the whole workspace, whichever documents are searched.
 * A term comes in several rows, each for a range of documents. They come in order, so that of chunks with equal scores those of the first
 * documents are found.
 */
export async function readPostings(
  db: Db,
  { workspaceId, query, scope }: { workspaceId: string; query: string; scope?: DocumentScope | undefined },
): Promise<TermPostings[]> {
  const keys = queryTermsOf(query).slice(0, mostTerms).map(termKeyOf);
  if (keys.length === 0 || scope?.named?.length === 0) return [];
  const ofWorkspace = sql`workspace_key = ${workspaceKeyOf(workspaceId)}`;
  const isSearched = scope ? sql`and document_number in (${numbersOf(workspaceId, scope)})` : sql``;
  const ofTerm = sql`${ofWorkspace} and posting.term = counted.term ${isSearched}`;
  // `offset 0` keeps Postgres from computing the bound for each posting.
  const { rows } = await sql<TermPostings>`
    select frequency, documents::bpchar, total.chunks, total.terms
    from (${countTerms(ofWorkspace, keys)}) as counted
    cross join lateral (
      select case when counted.postings > ${sql.lit(mostPostings)} then (${firstOfLatest(ofTerm)}) end as first
      offset 0
    ) as bound
    cross join lateral (${collectRanges(ofTerm)}) as read
    cross join (
      select sum(chunk_count)::int as chunks, sum(term_count)::float8 as terms from lexical_document where workspace_id = ${workspaceId}
    ) as total
    where place = 1 or counted.postings <= ${sql.lit(mostPostings)}
    order by place, range
  `.execute(db);
  return rows;
}

/** The numbers of the documents that are searched. */
function numbersOf(workspaceId: string, scope: DocumentScope): RawBuilder<unknown> {
  const isIncluded = scope.includes(sql`lexical_document.document_id`);
  return sql`select number from lexical_document where workspace_id = ${workspaceId} and ${isIncluded}`;
}

/**
 * Each term with its frequency and its place among the terms, the rarest first; `postings` is how many it and all rarer ones have. A row
 * gets the documents of a range of numbers, which begins at `lowest` or a multiple of `width` above: ranges cost Postgres nothing, and
 * there are never more than asked for.
 */
function countTerms(ofWorkspace: RawBuilder<unknown>, keys: number[]): RawBuilder<unknown> {
  return sql`
      select term, frequency, lowest, width, sum(frequency) over (order by frequency, term) as postings,
        row_number() over (order by frequency, term) as place
      from (
        select term, (sum(octet_length(postings)) / ${sql.lit(postingLength)})::int as frequency, min(document_number) as lowest,
          (max(document_number) - min(document_number)) / (1 + sum(octet_length(postings)) / ${sql.lit(bytesPerRow)}) + 1 as width
        from posting where ${ofWorkspace} and term = any(${keys}::bigint[])
        group by term
      ) as by_term`;
}

/** Of a term with more postings than are read, the lowest number of the latest documents that are read. */
function firstOfLatest(ofTerm: RawBuilder<unknown>): RawBuilder<unknown> {
  return sql`
        select min(document_number) from (
          select document_number, sum(octet_length(postings)) over (order by document_number desc) as characters from posting where ${ofTerm}
        ) as latest where characters <= ${sql.lit(mostPostings * postingLength)}`;
}

/** The postings of a term, a row for each range of documents. */
function collectRanges(ofTerm: RawBuilder<unknown>): RawBuilder<unknown> {
  return sql`
      select string_agg(document_number || ' ' || postings, ' ') as documents, (document_number - counted.lowest) / counted.width as range
      from posting where ${ofTerm} and (bound.first is null or document_number >= bound.first)
      group by range`;
}
