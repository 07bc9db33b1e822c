import { Group, Paper, Text } from '@mantine/core';
import type { Contract, OutputOf } from '@sheaf/client';
import { useQuery } from '@tanstack/react-query';
import { getRouteApi, useNavigate } from '@tanstack/react-router';
import { Empty } from '../components/empty.tsx';
import { Failure } from '../components/failure.tsx';
import { PageHead } from '../components/page-head.tsx';
import { PassageLink } from '../components/passage-link.tsx';
import { QueryForm } from '../components/query-form.tsx';
import { Waiting } from '../components/waiting.tsx';
import { service } from '../service.ts';
import { t } from '../text.ts';

const route = getRouteApi('/o/$organization/$workspace/ask');

type Answer = OutputOf<Contract['documents']['ask']>;
type Sentence = Answer['sentences'][number];
type Citation = Sentence['citations'][number];

export default function Ask() {
  const { q, key } = route.useSearch();
  const navigate = useNavigate({ from: '/o/$organization/$workspace/ask' });
  return (
    <>
      <PageHead title={t.ask.title} />
      <QueryForm
        label={t.ask.query}
        placeholder={t.ask.placeholder}
        submit={t.ask.submit}
        q={q}
        onAsk={(asked) => void navigate({ search: { q: asked, key: newKey() } })}
      >
        <Text size="xs" c="dimmed">
          {t.ask.hint}
        </Text>
      </QueryForm>
      {q && key ? <Asked q={q} idempotencyKey={key} /> : <Empty title={t.ask.emptyTitle} text={t.ask.empty} />}
    </>
  );
}

/** A random key. Not randomUUID, because browsers have it only on secure pages. */
const newKey = () => crypto.getRandomValues(new Uint32Array(4)).join('-');

/** An answer costs credits: by the key in the address, whoever comes back to the page gets the same one for a day, at no cost. */
function Asked({ q, idempotencyKey }: { q: string; idempotencyKey: string }) {
  const { workspace } = route.useRouteContext();
  const { data, error, isPending, refetch } = useQuery({
    queryKey: ['ask', workspace.id, q, idempotencyKey],
    queryFn: ({ signal }) => service.documents.ask({ workspaceId: workspace.id, question: q, mode: 'hybrid' }, { signal, idempotencyKey }),
    staleTime: Number.POSITIVE_INFINITY,
  });
  if (isPending) return <Waiting />;
  if (error) return <Failure error={error} retry={() => void refetch()} />;
  return <Answered answer={data} />;
}

function Answered({ answer }: { answer: Answer }) {
  const { sentences, nothingFound, withheld, model, credits } = answer;
  return (
    <>
      {nothingFound ? (
        <Empty text={t.ask.none} />
      ) : (
        <ol className="plain-list" aria-label={t.ask.answer}>
          {sentences.map((sentence) => (
            <Quoted key={`${sentence.text} ${sentence.citations[0]?.start}`} sentence={sentence} />
          ))}
        </ol>
      )}
      <Text size="xs" c="dimmed" mt="md" role="status">
        {[
          ...(withheld > 0 ? [t.ask.withheld(withheld)] : []),
          ...(sentences.length === 0 ? [] : [model === null ? t.ask.extractive : t.ask.picked(model)]),
          t.common.credits(credits),
        ].join(' · ')}
      </Text>
    </>
  );
}

function Quoted({ sentence: { text, mark, citations } }: { sentence: Sentence }) {
  const [before, after] = mark ? splitAt(text, mark) : [text, ''];
  return (
    <li>
      <Paper withBorder p="md">
        <Text className="passage foreign">
          {before}
          {mark && <mark>{mark}</mark>}
          {after}
        </Text>
        {citations.map((citation) => (
          <Cited key={`${citation.documentId} ${citation.start}`} citation={citation} />
        ))}
      </Paper>
    </li>
  );
}

function splitAt(text: string, mark: string): [string, string] {
  const at = text.indexOf(mark);
  return [text.slice(0, at), text.slice(at + mark.length)];
}

/** Where a sentence stands, and what stands around it. */
function Cited({ citation }: { citation: Citation }) {
  const { documentName, page, headings, recognized, context } = citation;
  const where = [...(page ? [t.search.page(page)] : []), ...headings, ...(recognized ? [t.ask.recognized] : [])];
  const cells = context?.cells.map(({ head, text }) => (head === '' ? text : `${head}: ${text}`)).join(' · ');
  const around = [context?.lead, ...(context?.parents ?? []), cells, context?.before, context?.after].filter(Boolean);
  return (
    <>
      {around.length > 0 && (
        <Text size="sm" c="dimmed" mt="xs" className="foreign">
          {around.join(' … ')}
        </Text>
      )}
      <Group gap="xs" mt={4}>
        <PassageLink {...citation} label={t.ask.open(documentName, page)} />
        <Text size="xs" c="dimmed" className="foreign">
          {where.join(' › ')}
        </Text>
      </Group>
    </>
  );
}
