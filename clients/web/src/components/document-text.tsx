import { Paper, Text } from '@mantine/core';
import { type Document, sliceCharacters } from '@sheaf/client';
import { useQuery } from '@tanstack/react-query';
import { useEffect, useMemo, useRef } from 'react';
import { textQuery } from '../document-queries.ts';
import { t } from '../text.ts';
import { Failure } from './failure.tsx';
import { type Block, blocksOf, CellRows, unitsOf } from './rich-text.tsx';
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
  // Of pages behind the end of what is kept it is not known that they are blank.
  const isCut = truncated && from >= extracted.characters;
  const passage = isMarked ? { start: start - from, end: end - from } : undefined;
  return (
    <>
      <Paper withBorder p="md" className="document-text foreign" tabIndex={0} role="region" aria-label={t.document.text}>
        {wholePage.trim() === '' ? (
          <Text size="md" c="dimmed">
            {isCut ? t.document.truncated : t.document.emptyText}
          </Text>
        ) : (
          <Rich text={wholePage} contentType={contentType} passage={passage} />
        )}
      </Paper>
      {truncated && !isCut && (
        <Text c="dimmed" mt="xs">
          {t.document.truncated}
        </Text>
      )}
    </>
  );
}

/** The parts of the text. A passage is marked in rows of tables, and in other parts as they stand there. */
function Rich({ text, contentType, passage }: { text: string; contentType: string; passage: Passage | undefined }) {
  const box = useRef<HTMLDivElement>(null);
  const blocks = useMemo(() => blocksOf(text, contentType), [text, contentType]);
  const start = unitsOf(text, passage?.start ?? 0);
  const end = unitsOf(text, passage?.end ?? 0);
  // biome-ignore lint/correctness/useExhaustiveDependencies: another passage is another place.
  useEffect(() => {
    box.current?.querySelector('mark')?.scrollIntoView({ block: 'center' });
  }, [text, start, end]);
  const placed: (Block & { from: number })[] = [];
  let to = 0;
  for (const block of blocks) {
    const from = to;
    to += block.raw.length;
    const last = placed.at(-1);
    // What a passage reaches into is one part, as it stands there.
    if (last && !last.rows && !block.rows && from > start && from < end) last.raw += block.raw;
    else placed.push({ ...block, from });
  }
  return (
    <div ref={box}>
      {placed.map(({ from, ...block }) => (
        <Part key={from} {...block} start={Math.max(0, start - from)} end={Math.min(block.raw.length, end - from)} />
      ))}
    </div>
  );
}

function Part({ raw, shown, rows, start, end }: Block & Passage) {
  if (rows) return <CellRows rows={rows} marks={[{ start, end }]} />;
  return end > start ? <Marked text={raw} start={start} end={end} /> : (shown ?? raw);
}

interface Passage {
  start: number;
  end: number;
}

function Marked({ text, start, end }: { text: string } & Passage) {
  return (
    <>
      {text.slice(0, start)}
      <mark title={t.document.passage}>{text.slice(start, end)}</mark>
      {text.slice(end)}
    </>
  );
}
