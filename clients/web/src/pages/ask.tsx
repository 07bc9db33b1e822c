import { Button, CopyButton, Group, Paper, Text, Title } from '@mantine/core';
import type { Contract, OutputOf } from '@sheaf/client';
import IconCopy from '@tabler/icons-react/icons/IconCopy';
import IconFileText from '@tabler/icons-react/icons/IconFileText';
import IconPlus from '@tabler/icons-react/icons/IconPlus';
import { useQuery } from '@tanstack/react-query';
import { getRouteApi, useNavigate } from '@tanstack/react-router';
import { useEffect, useRef } from 'react';
import { canCopy } from '../clipboard.ts';
import { Empty } from '../components/empty.tsx';
import { Failure } from '../components/failure.tsx';
import { Foreign } from '../components/foreign.tsx';
import { ButtonTo, LinkTo } from '../components/link-to.tsx';
import { PageHead } from '../components/page-head.tsx';
import { PassageLink } from '../components/passage-link.tsx';
import { QueryForm } from '../components/query-form.tsx';
import { Waiting } from '../components/waiting.tsx';
import { slugsOf } from '../queries.ts';
import { service } from '../service.ts';
import { t } from '../text.ts';

const route = getRouteApi('/o/$organization/$workspace/ask');

type Answer = OutputOf<Contract['documents']['ask']>;
type Sentence = Answer['sentences'][number];
type Citation = Sentence['citations'][number];

/** Of the questions before, so many are sent along (the contract allows no more). */
const longestConversation = 20;

/** A conversation. Its address holds the questions, and one key for all of them. */
export default function Ask() {
  const { q, key, before = [] } = route.useSearch();
  const navigate = useNavigate({ from: '/o/$organization/$workspace/ask' });
  const questions = q && key ? [...before, q] : [];
  const turns = questions.map((_, turn) => ({ id: `${key} ${turn}`, asked: questions.slice(0, turn + 1) }));
  const ask = (asked: string) =>
    navigate({
      search: questions.length === 0 ? { q: asked, key: newKey() } : { q: asked, key, before: questions },
      // The newest turn comes into view by itself.
      resetScroll: false,
    });
  return (
    <>
      <PageHead title={t.nav.pages.ask}>
        {questions.length > 0 && (
          <ButtonTo
            from="/o/$organization/$workspace/ask"
            to="."
            search={{}}
            variant="default"
            size="xs"
            leftSection={<IconPlus size={14} aria-hidden />}
          >
            {t.ask.another}
          </ButtonTo>
        )}
      </PageHead>
      {turns.map(({ id, asked }) => (
        <Turn key={id} questions={asked} conversation={key ?? ''} isLast={asked.length === questions.length} />
      ))}
      <QueryForm
        label={questions.length === 0 ? t.ask.query : t.ask.next}
        placeholder={t.ask.placeholder}
        submit={t.ask.submit}
        q={undefined}
        isEmptied
        onAsk={(asked) => void ask(asked)}
      >
        <Text size="xs" c="dimmed">
          {t.ask.hint}
        </Text>
      </QueryForm>
      {questions.length === 0 && <Empty title={t.ask.emptyTitle} text={t.ask.empty} />}
    </>
  );
}

/** A random key. Not randomUUID, because browsers have it only on secure pages. */
const newKey = () => crypto.getRandomValues(new Uint32Array(4)).join('-');

interface TurnProps {
  /** The question, and those before it. */
  questions: string[];
  /** The key of the conversation. */
  conversation: string;
  isLast: boolean;
}

/**
 * A question with its answer. An answer costs credits: by the key in the address, whoever comes back to the page gets the same one for a
 * day, at no cost. Of a conversation that is opened later only the last answer is asked for by itself.
 */
function Turn({ questions, conversation, isLast }: TurnProps) {
  const { workspace } = route.useRouteContext();
  const section = useRef<HTMLElement>(null);
  const isNewest = isLast && questions.length > 1;
  useEffect(() => {
    if (isNewest) section.current?.scrollIntoView();
  }, [isNewest]);
  const question = questions.at(-1) ?? '';
  const before = questions.slice(0, -1).slice(-longestConversation);
  const idempotencyKey = questions.length === 1 ? conversation : `${conversation}-${questions.length}`;
  const input = { workspaceId: workspace.id, question, mode: 'hybrid' as const, ...(before.length > 0 ? { conversation: before } : {}) };
  const { data, error, isFetching, refetch } = useQuery({
    queryKey: ['ask', workspace.id, question, idempotencyKey],
    queryFn: ({ signal }) => service.documents.ask(input, { signal, idempotencyKey }),
    staleTime: Number.POSITIVE_INFINITY,
    enabled: isLast,
  });
  return (
    <section ref={section} className="turn" aria-label={question}>
      <Title order={2} size="h4" mb="sm" className="foreign">
        {question}
      </Title>
      {isFetching && <Waiting />}
      {!isFetching && <Failure error={error} retry={() => void refetch()} />}
      {data && <Answered answer={data} question={question} />}
      {!data && !error && !isFetching && (
        <Button size="xs" variant="default" onClick={() => void refetch()}>
          {t.ask.show}
        </Button>
      )}
    </section>
  );
}

function Answered({ answer, question }: { answer: Answer; question: string }) {
  const { sentences, nothingFound, withheld, model, credits } = answer;
  return (
    <>
      {nothingFound ? (
        <NothingFound question={question} />
      ) : (
        <ol className="plain-list" aria-label={t.ask.answer}>
          {sentences.map((sentence) => (
            <Quoted key={`${sentence.text} ${sentence.citations[0]?.start}`} sentence={sentence} />
          ))}
        </ol>
      )}
      <Group gap="sm" mt="sm">
        <Text size="xs" c="dimmed" role="status">
          {[
            ...(withheld > 0 ? [t.ask.withheld(withheld)] : []),
            ...(sentences.length === 0 ? [] : [model === null ? t.ask.extractive : t.ask.picked(model)]),
            t.common.credits(credits),
          ].join(' · ')}
        </Text>
        {canCopy && sentences.length > 0 && (
          <CopyButton value={textOf(answer)}>
            {({ copy, copied }) => (
              <Button size="compact-xs" variant="subtle" leftSection={<IconCopy size={14} aria-hidden />} onClick={copy}>
                {copied ? t.common.copied : t.ask.copy}
              </Button>
            )}
          </CopyButton>
        )}
      </Group>
    </>
  );
}

/** The sentences, each with where it stands, to be pasted elsewhere. */
function textOf({ sentences }: Answer): string {
  const sourceOf = ({ documentName, page }: Citation) => [documentName, ...(page ? [t.search.page(page)] : [])].join(', ');
  return sentences.map((sentence) => `${wordsOf(sentence)} (${sentence.citations.map(sourceOf).join('; ')})`).join('\n');
}

/** A row of a table by its cells, each with the head of its column, instead of the bars or commas between them. */
function wordsOf({ text, citations }: Sentence): string {
  return citations.map(cellsOf).find((cells) => cells !== '') ?? text;
}

/** What was looked through, and what can be done now. */
function NothingFound({ question }: { question: string }) {
  const place = route.useRouteContext();
  return (
    <Paper withBorder p="md">
      <Text>{t.ask.none}</Text>
      <Foreign c="dimmed" mt={4}>
        {t.ask.searched(place.workspace.name)}
      </Foreign>
      <Group gap="md" mt="xs">
        <LinkTo to="/o/$organization/$workspace/search" params={slugsOf(place)} search={{ q: question }} size="sm">
          {t.ask.search}
        </LinkTo>
        <LinkTo to="/o/$organization/$workspace/documents" params={slugsOf(place)} size="sm">
          {t.ask.add}
        </LinkTo>
      </Group>
    </Paper>
  );
}

function Quoted({ sentence }: { sentence: Sentence }) {
  const { mark, citations } = sentence;
  const shown = wordsOf(sentence);
  const at = mark ? shown.indexOf(mark) : -1;
  return (
    <li>
      <Paper withBorder p="md">
        <Foreign size="md">
          {mark && at >= 0 ? (
            <>
              {shown.slice(0, at)}
              <mark>{mark}</mark>
              {shown.slice(at + mark.length)}
            </>
          ) : (
            shown
          )}
        </Foreign>
        {citations.map((citation) => (
          <Cited key={`${citation.documentId} ${citation.start}`} citation={citation} />
        ))}
      </Paper>
    </li>
  );
}

function cellsOf({ context }: Citation): string {
  return (context?.cells ?? []).map(({ head, text }) => (head === '' ? text : `${head}: ${text}`)).join(' · ');
}

/** Where a sentence stands, and what stands around it. */
function Cited({ citation }: { citation: Citation }) {
  const { documentName, page, headings, recognized, context } = citation;
  const where = [...(page ? [t.search.page(page)] : []), ...headings, ...(recognized ? [t.ask.recognized] : [])];
  const around = [context?.lead, ...(context?.parents ?? []), context?.before, context?.after].filter(Boolean);
  return (
    <>
      {around.length > 0 && (
        <Foreign c="dimmed" mt="xs">
          {around.join(' … ')}
        </Foreign>
      )}
      <Group gap="xs" mt="xs" className="source">
        <IconFileText size={16} aria-hidden className="keep" />
        <PassageLink {...citation} label={t.ask.open(documentName, page)} />
        <Foreign size="xs" c="dimmed">
          {where.join(' › ')}
        </Foreign>
      </Group>
    </>
  );
}
