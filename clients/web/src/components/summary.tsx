import { Paper, Text } from '@mantine/core';
import { useInfiniteQuery } from '@tanstack/react-query';
import { jobsQuery, type ListedJob } from '../jobs.ts';
import type { Place } from '../queries.ts';
import { t } from '../text.ts';
import { PaperTitle } from './titles.tsx';

function summaryOf(job: ListedJob): string | undefined {
  if (job.kind === 'document.summarize') return job.result?.summary;
  return job.kind === 'document.process' ? job.result?.summarize.summary : undefined;
}

/** The newest summary of a document, if there is one. */
export function Summary({ place, documentId }: { place: Place; documentId: string }) {
  const { data } = useInfiniteQuery(jobsQuery(place, { documentId }));
  const jobs = data?.pages.flatMap(({ items }) => items) ?? [];
  const summaries = jobs.map(summaryOf).filter((summary) => summary !== undefined);
  if (summaries[0] === undefined) return null;
  return (
    <Paper withBorder p="md" mb="lg" component="section">
      <PaperTitle>{t.document.summary}</PaperTitle>
      <Text className="foreign">{summaries[0]}</Text>
    </Paper>
  );
}
