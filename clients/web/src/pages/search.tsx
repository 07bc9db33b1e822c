import { Paper, SegmentedControl, Text } from '@mantine/core';
import type { SearchResults } from '@sheaf/client';
import { useQuery } from '@tanstack/react-query';
import { getRouteApi, useNavigate } from '@tanstack/react-router';
import { Fragment } from 'react';
import { type DocumentFilter, DocumentFilterFields, typeOf } from '../components/document-filter.tsx';
import { Empty } from '../components/empty.tsx';
import { Failure } from '../components/failure.tsx';
import { Foreign } from '../components/foreign.tsx';
import { PageHead } from '../components/page-head.tsx';
import { PassageLink } from '../components/passage-link.tsx';
import { QueryForm } from '../components/query-form.tsx';
import { blocksOf, CellRows, unitsOf } from '../components/rich-text.tsx';
import { Waiting } from '../components/waiting.tsx';
import { flowed } from '../flowed.ts';
import { service } from '../service.ts';
import { formatNumber, t } from '../text.ts';

const route = getRouteApi('/o/$organization/$workspace/search');
const modes = ['hybrid', 'semantic', 'lexical'] as const;
type Mode = (typeof modes)[number];
type Result = SearchResults['results'][number];

export default function Search() {
  const { q, mode = 'hybrid', tags, type } = route.useSearch();
  return (
    <>
      <PageHead title={t.nav.pages.search} />
      <Question q={q} mode={mode} filter={{ tags, type }} />
      {q ? <Answers q={q} mode={mode} filter={{ tags, type }} /> : <Empty title={t.search.emptyTitle} text={t.search.empty} />}
    </>
  );
}

function Question({ q, mode, filter }: { q: string | undefined; mode: Mode; filter: DocumentFilter }) {
  const navigate = useNavigate({ from: '/o/$organization/$workspace/search' });
  const change = (next: DocumentFilter & { mode?: Mode }) => void navigate({ search: { q, mode, ...filter, ...next }, replace: true });
  return (
    <QueryForm
      label={t.search.query}
      placeholder={t.search.placeholder}
      submit={t.search.submit}
      q={q}
      onAsk={(asked) => void navigate({ search: { q: asked, mode, ...filter } })}
    >
      <SegmentedControl
        size="xs"
        aria-label={t.search.mode}
        data={modes.map((value) => ({ value, label: t.search.modes[value] }))}
        value={mode}
        mb="sm"
        onChange={(value) => change({ mode: value as Mode })}
      />
      <DocumentFilterFields {...filter} onChange={change} />
    </QueryForm>
  );
}

function Answers({ q, mode, filter: { tags, type } }: { q: string; mode: Mode; filter: DocumentFilter }) {
  const { workspace } = route.useRouteContext();
  const contentType = typeOf(type);
  const filter = { ...(tags ? { tags } : {}), ...(contentType ? { contentTypes: [contentType] } : {}) };
  // A search may cost a credit: it is asked once, and not again because somebody looked at another window.
  const { data, error, isPending, refetch } = useQuery({
    queryKey: ['search', workspace.id, q, mode, filter],
    queryFn: ({ signal }) =>
      service.documents.search({ workspaceId: workspace.id, query: q, mode, filter, include: ['citation', 'highlights'] }, { signal }),
    staleTime: 300_000,
    refetchOnWindowFocus: false,
    refetchOnReconnect: false,
  });
  if (isPending) return <Waiting />;
  if (error) return <Failure error={error} retry={() => void refetch()} />;
  if (data.results.length === 0) return <Empty text={t.search.none} />;
  return (
    <>
      <Text c="dimmed" mb="sm" role="status">
        {t.search.results(data.results.length)}
      </Text>
      <ol className="plain-list">
        {data.results.map((result) => (
          <Passage key={result.chunkId} result={result} mode={mode} />
        ))}
      </ol>
    </>
  );
}

function Passage({ result, mode }: { result: Result; mode: Mode }) {
  const { documentName, citation, rank } = result;
  const { page, headings } = citation ?? {};
  const where = [...(page ? [t.search.page(page)] : []), ...(headings ?? [])];
  return (
    <li>
      <Paper withBorder p="md">
        <PassageLink {...result} {...citation} label={t.search.open(documentName, rank)} />
        {where.length > 0 && (
          <Foreign size="xs" c="dimmed" mb="xs">
            {where.join(' › ')}
          </Foreign>
        )}
        <Text component="div" className="passage foreign">
          <Highlighted result={result} />
        </Text>
        <Scores result={result} mode={mode} />
      </Paper>
    </li>
  );
}

/** The numbers by which a passage was found, and what they mean. */
function Scores({ result: { rank, score, lexicalScore }, mode }: { result: Result; mode: Mode }) {
  const similarity = score === null ? undefined : formatNumber(Math.round(score * 100) / 100);
  const words = lexicalScore === undefined ? undefined : formatNumber(Math.round(lexicalScore * 10) / 10);
  const numbers = [similarity && t.search.score(similarity), words && t.search.wordScore(words)].filter(Boolean);
  const meanings = [
    t.search.rankMeans(rank, mode),
    ...(mode === 'lexical' ? [] : [similarity ? t.search.scoreMeans(similarity) : t.search.noScore]),
    ...(words ? [t.search.wordScoreMeans(words)] : []),
  ];
  return (
    <details className="scores">
      <summary>{numbers.join(' · ')}</summary>
      {meanings.map((meaning) => (
        <Text key={meaning} c="dimmed">
          {meaning}
        </Text>
      ))}
    </details>
  );
}

interface Mark {
  start: number;
  end: number;
}

/** The text of a chunk with the words that matched, and rows of a table as such, of which the row is marked. Positions count code points. */
function Highlighted({ result: { citation, highlights = [], ...result } }: { result: Result }) {
  const text = citation?.page ? flowed(result.text) : result.text;
  const marks = highlights.map(({ start, end }) => ({ start: unitsOf(text, start), end: unitsOf(text, end) }));
  let to = 0;
  return blocksOf(text, 'text/plain').map(({ raw, rows }) => {
    const from = to;
    to += raw.length;
    const own = marks.map(({ start, end }) => ({ start: start - from, end: end - from }));
    if (rows) return <CellRows key={from} rows={rows} marks={own} />;
    return <Words key={from} text={raw} marks={own.filter(({ start, end }) => end > 0 && start < raw.length)} />;
  });
}

function Words({ text, marks }: { text: string; marks: Mark[] }) {
  let done = 0;
  const pieces = marks.map(({ start, end }) => {
    const piece = { start, before: text.slice(done, Math.max(0, start)), word: text.slice(Math.max(0, start), end) };
    done = end;
    return piece;
  });
  return (
    <>
      {pieces.map(({ start, before, word }) => (
        <Fragment key={start}>
          {before}
          <mark>{word}</mark>
        </Fragment>
      ))}
      {text.slice(done)}
    </>
  );
}
