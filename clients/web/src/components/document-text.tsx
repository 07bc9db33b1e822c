import { Paper, Text } from '@mantine/core';
import { type Document, sliceCharacters } from '@sheaf/client';
import { useQuery } from '@tanstack/react-query';
import { useEffect, useRef } from 'react';
import { textQuery } from '../document-queries.ts';
import { t } from '../text.ts';
import { Failure } from './failure.tsx';
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
export function DocumentText({ document: { id }, extracted, page = 1, start, end }: TextProps) {
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
        {wholePage.trim() === '' ? <Text c="dimmed">{t.document.emptyText}</Text> : <Marked text={wholePage} passage={passage} />}
      </Paper>
      {truncated && (
        <Text size="sm" c="dimmed" mt="xs">
          {t.document.truncated}
        </Text>
      )}
    </>
  );
}

function Marked({ text, passage }: { text: string; passage: { start: number; end: number } | undefined }) {
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
