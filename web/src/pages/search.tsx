import { Button, Group, Paper, SegmentedControl, Text, TextInput } from '@mantine/core';
import { type SearchResults, sliceCharacters } from '@sheaf/client';
import { useQuery } from '@tanstack/react-query';
import { getRouteApi, useNavigate } from '@tanstack/react-router';
import { type FormEvent, Fragment } from 'react';
import { Empty } from '../parts/empty.tsx';
import { Failure } from '../parts/failure.tsx';
import { LinkTo } from '../parts/link-to.tsx';
import { PageHead } from '../parts/page-head.tsx';
import { Waiting } from '../parts/waiting.tsx';
import { slugsOf } from '../queries.ts';
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
  const onSubmit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const asked = String(new FormData(event.currentTarget).get('q') ?? '').trim();
    if (asked !== '') void navigate({ search: { q: asked, mode } });
  };
  return (
    <form onSubmit={onSubmit} className="question">
      <Group align="flex-end" gap="sm" mb="sm">
        <TextInput
          key={q}
          name="q"
          type="search"
          label={t.search.query}
          placeholder={t.search.placeholder}
          defaultValue={q}
          maxLength={1000}
          required
          className="grows"
        />
        <Button type="submit">{t.search.submit}</Button>
      </Group>
      <SegmentedControl
        size="xs"
        aria-label={t.search.mode}
        data={modes.map((value) => ({ value, label: t.search.modes[value] }))}
        value={mode}
        onChange={(value) => void navigate({ search: { q, mode: value as Mode }, replace: true })}
      />
    </form>
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
  const { documentId, documentName, citation, rank, score, lexicalScore } = result;
  const place = route.useRouteContext();
  const { page, start, end, headings } = citation ?? {};
  const where = [...(page ? [t.search.page(page)] : []), ...(headings ?? [])];
  const scores = [
    ...(score === null ? [] : [t.search.score(formatNumber(Math.round(score * 100) / 100))]),
    ...(lexicalScore === undefined ? [] : [t.search.wordScore(formatNumber(Math.round(lexicalScore * 10) / 10))]),
  ];
  return (
    <li>
      <Paper withBorder p="md">
        <Group justify="space-between" gap="xs" mb={4}>
          <LinkTo
            to="/o/$organization/$workspace/documents/$id"
            params={{ ...slugsOf(place), id: documentId }}
            search={{ page: page ?? undefined, start: start ?? undefined, end: end ?? undefined }}
            aria-label={t.search.open(documentName, rank)}
            fw={550}
            className="foreign"
          >
            {documentName}
          </LinkTo>
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
