import { Button, Group, Stack, Table, Text } from '@mantine/core';
import { useInfiniteQuery, useMutation } from '@tanstack/react-query';
import { getRouteApi, useNavigate } from '@tanstack/react-router';
import { memo, useState } from 'react';
import { Empty } from '../components/empty.tsx';
import { Failure } from '../components/failure.tsx';
import { Filter } from '../components/filter.tsx';
import { JobState } from '../components/job-state.tsx';
import { LinkTo } from '../components/link-to.tsx';
import { PageHead } from '../components/page-head.tsx';
import { RetryJobs } from '../components/retry-jobs.tsx';
import { ShortName } from '../components/short-name.tsx';
import { StateMark } from '../components/state-mark.tsx';
import { TaskButton } from '../components/task-button.tsx';
import { Time } from '../components/time.tsx';
import { Waiting } from '../components/waiting.tsx';
import { useDocumentNames } from '../document-names.ts';
import { findRetried, type JobStatus, jobsQuery, type ListedJob, type Live, liveJobs, mayBeRetried } from '../jobs.ts';
import { slugsOf } from '../queries.ts';
import { service } from '../service.ts';
import { formatRelative, t } from '../text.ts';

const route = getRouteApi('/o/$organization/$workspace/jobs');

export default function Jobs() {
  const place = route.useRouteContext();
  const { status } = route.useSearch();
  const live = liveJobs.use();
  const jobs = useInfiniteQuery(jobsQuery(place, { status }));
  const loaded = jobs.data?.pages.flatMap((page) => page.items) ?? [];
  // A job that was made at the same instant as the last of a page may be shown before the next page brings it.
  const items = [...new Map(loaded.map((job) => [job.id, job])).values()];
  return (
    <>
      <PageHead title={t.jobs.title}>
        <LiveMark live={live} />
      </PageHead>
      {live.state === 'lost' && <Failure error={live.error} title={t.jobs.lost} retry={live.again} />}
      <Group justify="space-between" align="flex-start" gap="sm">
        <StatusFilter status={status} />
        {status === 'failed' && <RetryAll items={items} />}
      </Group>
      <Failure error={jobs.error} retry={() => void jobs.refetch()} />
      {jobs.isPending && <Waiting />}
      {jobs.isSuccess &&
        items.length === 0 &&
        (status ? <Empty text={t.jobs.emptyFiltered} /> : <Empty title={t.jobs.emptyTitle} text={t.jobs.empty} />)}
      {items.length > 0 && <JobTable items={items} />}
      {jobs.hasNextPage && (
        <Button variant="default" mt="md" loading={jobs.isFetchingNextPage} onClick={() => void jobs.fetchNextPage()}>
          {t.common.more}
        </Button>
      )}
    </>
  );
}

function LiveMark({ live }: { live: Live }) {
  if (live.state === 'lost') return null;
  return <StateMark tone={live.state === 'live' ? 'good' : 'busy'}>{live.state === 'live' ? t.jobs.live : t.jobs.connecting}</StateMark>;
}

function StatusFilter({ status }: { status: JobStatus | undefined }) {
  const navigate = useNavigate({ from: '/o/$organization/$workspace/jobs' });
  const onChange = (next: JobStatus | undefined) => void navigate({ search: { status: next }, replace: true });
  return <Filter label={t.jobs.filterLabel} values={t.jobs.states} value={status} onChange={onChange} />;
}

/** Tries the failed jobs again that are shown, but those that have been already. */
function RetryAll({ items }: { items: ListedJob[] }) {
  const place = route.useRouteContext();
  const [retried, setRetried] = useState(new Set<string | undefined>());
  const [asked, setAsked] = useState<ListedJob[]>();
  // Of the retries only those are shown here that have failed, too. The others are looked for before anything is charged.
  const shown = new Set(items.map(({ input }) => input.retryOf));
  const failed = items.filter((job) => mayBeRetried(job) && !shown.has(job.id) && !retried.has(job.id));
  const find = useMutation({
    mutationFn: () => findRetried(place, failed),
    onSuccess: (found) => {
      setRetried(found);
      setAsked(failed.filter(({ id }) => !found.has(id)));
    },
  });
  return (
    <Stack gap="xs" align="flex-end">
      {failed.length >= 2 && (
        <Button size="xs" variant="default" loading={find.isPending} onClick={() => find.mutate()}>
          {t.jobs.retryAll(failed.length)}
        </Button>
      )}
      <Failure error={find.error} />
      {asked?.length === 0 && (
        <Text size="sm" role="status">
          {t.jobs.allRetried}
        </Text>
      )}
      {asked && asked.length > 0 && <RetryJobs jobs={asked} onClose={() => setAsked(undefined)} />}
    </Stack>
  );
}

function JobTable({ items }: { items: ListedJob[] }) {
  const place = route.useRouteContext();
  const documentName = useDocumentNames(place, items);
  const nameOf = ({ documentId, kind }: ListedJob) => {
    if (documentId === null) return kind.startsWith('document.') ? t.jobs.deletedDocument : t.jobs.noDocument;
    return documentName(documentId) ?? '…';
  };
  return (
    <Table className="cards">
      <Table.Thead>
        <Table.Tr>
          <Table.Th>{t.jobs.job}</Table.Th>
          <Table.Th>{t.jobs.state}</Table.Th>
          <Table.Th className="number">{t.jobs.attempts}</Table.Th>
          <Table.Th>{t.jobs.created}</Table.Th>
          <Table.Th className="number">{t.common.actions}</Table.Th>
        </Table.Tr>
      </Table.Thead>
      <Table.Tbody>
        {items.map((job) => (
          <JobRow key={job.id} job={job} name={nameOf(job)} />
        ))}
      </Table.Tbody>
    </Table>
  );
}

/** Memoized: only changed rows render again. */
const JobRow = memo(function JobRow({ job, name }: { job: ListedJob; name: string }) {
  const place = route.useRouteContext();
  const kind = t.jobs.kinds[job.kind];
  return (
    <Table.Tr>
      <Table.Td className="fills">
        <Stack gap={2}>
          <div className="job-line">
            <LinkTo to="/o/$organization/$workspace/jobs/$id" params={{ ...slugsOf(place), id: job.id }} className="name">
              {kind}
            </LinkTo>
            <DocumentName job={job} name={name} />
          </div>
          {job.error && (
            <Text size="sm" c="red" className="foreign job-error">
              {job.error.message}
            </Text>
          )}
          {job.nextAttemptAt && job.status === 'queued' && (
            <Text size="sm" c="dimmed">
              {job.waiting ? t.jobs.waiting[job.waiting] : t.jobs.nextAttempt(formatRelative(job.nextAttemptAt))}
            </Text>
          )}
        </Stack>
      </Table.Td>
      <Table.Td>
        <JobState job={job} />
      </Table.Td>
      <Table.Td className="number" data-label={t.jobs.attempts}>
        {t.common.of(String(job.attempts), String(job.maxAttempts))}
      </Table.Td>
      <Table.Td>
        <Time at={job.createdAt} />
      </Table.Td>
      <Table.Td className="number">
        <Act job={job} kind={kind} name={name} />
      </Table.Td>
    </Table.Tr>
  );
});

function DocumentName({ job: { documentId }, name }: { job: ListedJob; name: string }) {
  const place = route.useRouteContext();
  if (documentId === null)
    return (
      <Text size="sm" c="dimmed">
        {name}
      </Text>
    );
  return (
    <LinkTo
      to="/o/$organization/$workspace/documents/$id"
      params={{ ...slugsOf(place), id: documentId }}
      size="sm"
      aria-label={name}
      className="foreign one-line"
    >
      <ShortName name={name} />
    </LinkTo>
  );
}

/** What can be done with a job now. The stream shows what came of it; should it be away, the list is read again. */
function Act({ job, kind, name }: { job: ListedJob; kind: string; name: string }) {
  const { id, status } = job;
  if (status === 'queued')
    return (
      <TaskButton task={() => service.jobs.cancel({ id })} changes={['jobs']} label={t.jobs.cancel(kind, name)}>
        {t.common.cancel}
      </TaskButton>
    );
  if (!mayBeRetried(job)) return null;
  return (
    <TaskButton task={() => service.jobs.retry({ id })} changes={['jobs']} label={t.jobs.retry(kind, name)}>
      {t.common.retry}
    </TaskButton>
  );
}
