import { Paper, Text } from '@mantine/core';
import { type Document, sliceCharacters } from '@sheaf/client';
import { useQuery } from '@tanstack/react-query';
import { useEffect, useMemo, useRef } from 'react';
import { textQuery } from '../document-queries.ts';
import { t } from '../text.ts';
import { Failure } from './failure.tsx';
import { type Block, blocksOf } from './rich-text.tsx';
import { Waiting } from './waiting.tsx';

interface TextProps {
  document: Document;
  extracted: NonNullable<Document['extracted']>;
  /** From 1. */
  page?: number | undefined;
  /** A passage to mark: positions in the whole text, in code points. */
  start?: number | undefined;
  end?: number | undefined;
}

/** The text of a document, one page at a time if it has pages, with a passage marked. */
export function DocumentText({ document: { id, contentType }, extracted, page = 1, start, end }: TextProps) {
  const pages = extracted.pages ?? 0;
  const shown = useQuery(textQuery(id, pages > 0 ? page : undefined, extracted.at));
  // The text of a page comes without the white space around it: only the whole says where a passage is.
  const isMarked = start !== undefined && end !== undefined && end > start;
  const whole = useQuery({ ...textQuery(id, undefined, extracted.at), enabled: isMarked && pages > 0 });
  if (shown.isPending || (whole.isFetching && !whole.data)) return <Waiting />;
  if (shown.error) return <Failure error={shown.error} retry={() => void shown.refetch()} />;
  const { text, page: position, truncated } = shown.data;
  const from = position?.start ?? 0;
  const wholePage = whole.data?.text != null && position ? sliceCharacters(whole.data.text, position) : (text ?? '');
  const passage = isMarked ? { start: start - from, end: end - from } : undefined;
  return (
    <>
      <Paper withBorder p="md" className="document-text foreign" tabIndex={0} role="region" aria-label={t.document.text}>
        {wholePage.trim() === '' ? (
          <Text size="md" c="dimmed">
            {t.document.emptyText}
          </Text>
        ) : (
          <Rich text={wholePage} passage={passage} isMarkdown={contentType === 'text/markdown'} />
        )}
      </Paper>
      {truncated && (
        <Text c="dimmed" mt="xs">
          {t.document.truncated}
        </Text>
      )}
    </>
  );
}

/** The parts of the text, and as one of them, as it stands there, those that the passage reaches into. */
function Rich({ text, passage, isMarkdown }: { text: string; passage: Passage | undefined; isMarkdown: boolean }) {
  const blocks = useMemo(() => blocksOf(text, isMarkdown), [text, isMarkdown]);
  const start = passage ? unitsOf(text, passage.start) : 0;
  const end = passage ? unitsOf(text, passage.end) : 0;
  const placed: (Block & { from: number; to: number })[] = [];
  for (const block of blocks) {
    const from = placed.at(-1)?.to ?? 0;
    placed.push({ ...block, from, to: from + block.raw.length });
  }
  const reached = placed.filter(({ from, to }) => from < end && to > start);
  const [first] = reached;
  const raw = reached.map((block) => block.raw).join('');
  return placed.map((block) => {
    if (first && block === first)
      return (
        <Marked
          key={block.from}
          text={raw}
          passage={{ start: [...text.slice(first.from, start)].length, end: [...text.slice(first.from, end)].length }}
        />
      );
    if (reached.includes(block)) return null;
    return block.shown === undefined ? (
      block.raw
    ) : (
      <div key={block.from} className="rich">
        {block.shown}
      </div>
    );
  });
}

/** A position in code points as one in UTF-16. */
const unitsOf = (text: string, position: number) => sliceCharacters(text, { start: 0, end: Math.max(0, position) }).length;

interface Passage {
  start: number;
  end: number;
}

function Marked({ text, passage }: { text: string; passage: Passage | undefined }) {
  const mark = useRef<HTMLElement>(null);
  // biome-ignore lint/correctness/useExhaustiveDependencies: another passage is another place.
  useEffect(() => {
    mark.current?.scrollIntoView({ block: 'center' });
  }, [text, passage?.start]);
  const { length } = [...text];
  const start = Math.min(Math.max(passage?.start ?? 0, 0), length);
  const end = Math.min(Math.max(passage?.end ?? 0, start), length);
  if (!passage || start === end) return text;
  return (
    <>
      {sliceCharacters(text, { start: 0, end: start })}
      <mark ref={mark} title={t.document.passage}>
        {sliceCharacters(text, { start, end })}
      </mark>
      {sliceCharacters(text, { start: end, end: length })}
    </>
  );
}
