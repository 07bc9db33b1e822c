import { Table } from '@mantine/core';
import { useInfiniteQuery } from '@tanstack/react-query';
import { jobsQuery, type ListedJob } from '../jobs.ts';
import { type Place, slugsOf } from '../queries.ts';
import { inWords, t } from '../text.ts';
import { Failure } from './failure.tsx';
import { Foreign } from './foreign.tsx';
import { JobNumbers, jobNumberHeads } from './job-numbers.tsx';
import { JobState } from './job-state.tsx';
import { LinkTo } from './link-to.tsx';
import { Rows } from './rows.tsx';
import { TimeCell } from './time.tsx';
import { Subtitle } from './titles.tsx';

/** What was done with a document: the newest jobs, how long after its creation each was done, what it cost, and why it failed. */
export function DocumentJobs({ place, documentId }: { place: Place; documentId: string }) {
  const { data, error, refetch } = useInfiniteQuery(jobsQuery(place, { documentId }));
  const jobs = data?.pages[0]?.items ?? [];
  if (error) return <Failure error={error} retry={() => void refetch()} />;
  if (jobs.length === 0) return null;
  return (
    <section aria-label={t.document.jobs}>
      <Subtitle>{t.document.jobs}</Subtitle>
      <Rows heads={[t.jobs.job, t.jobs.state, ...jobNumberHeads, t.jobs.created]}>
        {jobs.map((job) => (
          <JobOfDocument key={job.id} job={job} place={place} />
        ))}
      </Rows>
    </section>
  );
}

function JobOfDocument({ job, place }: { job: ListedJob; place: Place }) {
  const { id, kind, error, createdAt } = job;
  return (
    <Table.Tr>
      <Table.Td className="fills">
        <LinkTo to="/o/$organization/$workspace/jobs/$id" params={{ ...slugsOf(place), id }} className="name">
          {t.jobs.kinds[kind]}
        </LinkTo>
        {error && <Foreign c="red">{inWords(error)}</Foreign>}
      </Table.Td>
      <Table.Td>
        <JobState job={job} />
      </Table.Td>
      <JobNumbers job={job} />
      <TimeCell at={createdAt} />
    </Table.Tr>
  );
}
