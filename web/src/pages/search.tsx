import { Group, Paper, SegmentedControl, Text } from '@mantine/core';
import { type SearchResults, sliceCharacters } from '@sheaf/client';
import { useQuery } from '@tanstack/react-query';
import { getRouteApi, useNavigate } from '@tanstack/react-router';
import { Fragment } from 'react';
import { Empty } from '../parts/empty.tsx';
import { Failure } from '../parts/failure.tsx';
import { PageHead } from '../parts/page-head.tsx';
import { PassageLink } from '../parts/passage-link.tsx';
import { QueryForm } from '../parts/query-form.tsx';
import { Waiting } from '../parts/waiting.tsx';
import { service } from '../service.ts';
import { formatNumber, t } from '../text.ts';

const route = getRouteApi('/o/$organization/$workspace/search');
const modes = ['hybrid', 'semantic', 'lexical'] as const;
type Mode = (typeof modes)[number];
type Result = SearchResults['results'][number];

export default function Search() {
  const { q, mode = 'hybrid' } = route.useSearch();
  return (
    <>
      <PageHead title={t.search.title} />
      <Question q={q} mode={mode} />
      {q ? <Answers q={q} mode={mode} /> : <Empty title={t.search.emptyTitle} text={t.search.empty} />}
    </>
  );
}

function Question({ q, mode }: { q: string | undefined; mode: Mode }) {
  const navigate = useNavigate({ from: '/o/$organization/$workspace/search' });
  return (
    <QueryForm
      label={t.search.query}
      placeholder={t.search.placeholder}
      submit={t.search.submit}
      q={q}
      onAsk={(asked) => void navigate({ search: { q: asked, mode } })}
    >
      <SegmentedControl
        size="xs"
        aria-label={t.search.mode}
        data={modes.map((value) => ({ value, label: t.search.modes[value] }))}
        value={mode}
        onChange={(value) => void navigate({ search: { q, mode: value as Mode }, replace: true })}
      />
    </QueryForm>
  );
}

function Answers({ q, mode }: { q: string; mode: Mode }) {
  const { workspace } = route.useRouteContext();
  // A search may cost a credit: it is asked once, and not again because somebody looked at another window.
  const { data, error, isPending, refetch } = useQuery({
    queryKey: ['search', workspace.id, q, mode],
    queryFn: ({ signal }) =>
      service.documents.search({ workspaceId: workspace.id, query: q, mode, include: ['citation', 'highlights'] }, { signal }),
    staleTime: 300_000,
    refetchOnWindowFocus: false,
    refetchOnReconnect: false,
  });
  if (isPending) return <Waiting />;
  if (error) return <Failure error={error} retry={() => void refetch()} />;
  if (data.results.length === 0) return <Empty text={t.search.none} />;
  return (
    <>
      <Text size="sm" c="dimmed" mb="sm" role="status">
        {t.search.results(data.results.length)}
      </Text>
      <ol className="plain-list">
        {data.results.map((result) => (
          <Passage key={result.chunkId} result={result} />
        ))}
      </ol>
    </>
  );
}

function Passage({ result }: { result: Result }) {
  const { documentName, citation, rank, score, lexicalScore } = result;
  const { page, headings } = citation ?? {};
  const where = [...(page ? [t.search.page(page)] : []), ...(headings ?? [])];
  const scores = [
    ...(score === null ? [] : [t.search.score(formatNumber(Math.round(score * 100) / 100))]),
    ...(lexicalScore === undefined ? [] : [t.search.wordScore(formatNumber(Math.round(lexicalScore * 10) / 10))]),
  ];
  return (
    <li>
      <Paper withBorder p="md">
        <Group justify="space-between" gap="xs" mb={4}>
          <PassageLink {...result} {...citation} label={t.search.open(documentName, rank)} />
          <Text size="xs" c="dimmed">
            {scores.join(' · ')}
          </Text>
        </Group>
        {where.length > 0 && (
          <Text size="xs" c="dimmed" mb="xs" className="foreign">
            {where.join(' › ')}
          </Text>
        )}
        <Text size="sm" className="passage foreign">
          <Highlighted result={result} />
        </Text>
      </Paper>
    </li>
  );
}

/** The text of a chunk with the words that matched. Positions count code points. */
function Highlighted({ result: { text, highlights = [] } }: { result: Result }) {
  let done = 0;
  const pieces = highlights.map(({ start, end }) => {
    const piece = { start, before: sliceCharacters(text, { start: done, end: start }), word: sliceCharacters(text, { start, end }) };
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
      {sliceCharacters(text, { start: done, end: text.length })}
    </>
  );
}
