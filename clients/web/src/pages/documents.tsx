import { Checkbox, Group, Table, Text } from '@mantine/core';
import type { Document, JobEvent } from '@sheaf/client';
import { useInfiniteQuery } from '@tanstack/react-query';
import { getRouteApi, useNavigate } from '@tanstack/react-router';
import { memo, useCallback, useState } from 'react';
import { DeleteDocuments } from '../components/delete-document.tsx';
import { type DocumentFilter, DocumentFilterFields, typeOf } from '../components/document-filter.tsx';
import { DocumentState } from '../components/document-state.tsx';
import { DropArea } from '../components/drop-area.tsx';
import { Empty } from '../components/empty.tsx';
import { Filter } from '../components/filter.tsx';
import { FirstSteps } from '../components/first-steps.tsx';
import { Foreign } from '../components/foreign.tsx';
import { LabelDocuments } from '../components/label-documents.tsx';
import { Tags } from '../components/labels.tsx';
import { LinkTo } from '../components/link-to.tsx';
import { NameFilter } from '../components/name-filter.tsx';
import { PageHead } from '../components/page-head.tsx';
import { Paged } from '../components/paged.tsx';
import { RowMenu } from '../components/row-menu.tsx';
import { Heads, type SortHead } from '../components/rows.tsx';
import { SelectionBar, useSelection } from '../components/selection.tsx';
import { ShortName } from '../components/short-name.tsx';
import { StartJobs } from '../components/start-jobs.tsx';
import { TimeCell } from '../components/time.tsx';
import { UploadList } from '../components/upload-list.tsx';
import { type DocumentSort, documentsQuery } from '../document-queries.ts';
import { indexDocuments, isHopeless, jobsUnderWay } from '../jobs.ts';
import { type Place, slugsOf } from '../queries.ts';
import { formatBytes, inWords, t } from '../text.ts';

const route = getRouteApi('/o/$organization/$workspace/documents');

export default function Documents() {
  const { workspace } = route.useRouteContext();
  return (
    <>
      <PageHead title={t.nav.pages.documents}>
        <Storage />
      </PageHead>
      <Started />
      {/* A folder is read for a while. What is dropped belongs to the workspace of that moment, whichever is chosen meanwhile. */}
      <DropArea key={workspace.id} workspaceId={workspace.id} />
      <UploadList workspaceId={workspace.id} />
      <List />
    </>
  );
}

function Storage() {
  const { data } = useInfiniteQuery(documentsQuery(route.useRouteContext(), {}));
  if (!data?.pages[0]) return null;
  const { usedBytes, limitBytes } = data.pages[0].storage;
  return (
    <Text c="dimmed">
      {limitBytes === null ? t.documents.used(formatBytes(usedBytes)) : t.documents.usedOf(formatBytes(usedBytes), formatBytes(limitBytes))}
    </Text>
  );
}

function Started() {
  const place = route.useRouteContext();
  const { data } = useInfiniteQuery(documentsQuery(place, {}));
  return data ? <FirstSteps place={place} hasDocuments={data.pages.some(({ items }) => items.length > 0)} /> : null;
}

function List() {
  const place = route.useRouteContext();
  const { status, name, tags, type, sort } = route.useSearch();
  const contentType = typeOf(type);
  const filter = {
    ...(status && { status }),
    ...(name && { name }),
    ...(tags ? { tag: tags } : {}),
    ...(contentType ? { contentType } : {}),
  };
  const documents = useInfiniteQuery(documentsQuery(place, filter, sortOf(sort)));
  const navigate = useNavigate({ from: '/o/$organization/$workspace/documents' });
  const narrow = (next: DocumentFilter & { name?: string | undefined }) =>
    void navigate({ search: (before) => ({ ...before, ...next }), replace: true });
  const pages = documents.data?.pages ?? [];
  const items = pages.flatMap((page) => page.items);
  return (
    <>
      <DocumentFilterFields tags={tags} type={type} onChange={narrow}>
        <StatusFilter status={status} />
        <NameFilter name={name} onChange={(next) => narrow({ name: next })} />
      </DocumentFilterFields>
      <Paged query={documents} isEmpty={items.length === 0} empty={<Nothing isFiltered={Object.keys(filter).length > 0} />}>
        <DocumentTable pages={pages} />
      </Paged>
    </>
  );
}

function Nothing({ isFiltered }: { isFiltered: boolean }) {
  return isFiltered ? <Empty text={t.documents.emptyFiltered} /> : <Empty title={t.documents.emptyTitle} text={t.documents.empty} />;
}

type Status = Document['status'];

function StatusFilter({ status }: { status: Status | undefined }) {
  const navigate = useNavigate({ from: '/o/$organization/$workspace/documents' });
  const onChange = (next: Status | undefined) => void navigate({ search: (before) => ({ ...before, status: next }), replace: true });
  return <Filter label={t.documents.filterLabel} values={t.documents.filter} value={status} onChange={onChange} />;
}

const sorts: DocumentSort[] = ['name', '-name', 'size', '-size', 'createdAt', '-createdAt'];
const sortOf = (given: string | undefined) => sorts.find((each) => each === given);

/** How a column is sorted first; another click turns it round. */
const firstSorts = { name: 'name', size: '-size', createdAt: '-createdAt' } as const;

/** The head of a column, by which the list is sorted in the address. */
function useSorting(): (column: keyof typeof firstSorts, label: string) => SortHead {
  const sort = sortOf(route.useSearch().sort) ?? '-createdAt';
  const navigate = useNavigate({ from: '/o/$organization/$workspace/documents' });
  return (column, label) => {
    const sorted = sort === column ? 'ascending' : sort === `-${column}` ? 'descending' : undefined;
    const turned: DocumentSort = sorted === 'ascending' ? `-${column}` : column;
    const next = sorted ? turned : firstSorts[column];
    // The newest first is the order of an address without one.
    const shown = next === '-createdAt' ? undefined : next;
    return { label, sorted, onSort: () => void navigate({ search: (before) => ({ ...before, sort: shown }), replace: true }) };
  };
}

function DocumentTable({ pages }: { pages: { items: Document[] }[] }) {
  const [doomed, setDoomed] = useState<Document[]>([]);
  const place = route.useRouteContext();
  const { chosen, selected, toggle, clear, all } = useSelection(pages.flatMap((page) => page.items));
  const underWay = jobsUnderWay.use();
  const onDelete = useCallback((document: Document) => setDoomed([document]), []);
  const headOf = useSorting();
  const heads = [
    { ...headOf('name', t.documents.name), before: all },
    t.documents.status,
    { ...headOf('size', t.documents.size), isNumber: true },
    headOf('createdAt', t.documents.added),
    { number: t.common.actions },
  ];
  return (
    <>
      <Table className="cards long-table">
        <Heads heads={heads} />
        {pages.map((page, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: a page stays the one at its position, whatever documents move into it.
          <DocumentPage key={index} items={page.items} {...{ place, chosen, underWay, onDelete }} onSelect={toggle} />
        ))}
      </Table>
      {selected.length > 0 && <Selected documents={selected} onDelete={() => setDoomed(selected)} onClear={clear} />}
      {doomed.length > 0 && <DeleteDocuments documents={doomed} onClose={() => setDoomed([])} />}
    </>
  );
}

interface SelectedProps {
  documents: Document[];
  onDelete: () => void;
  onClear: () => void;
}

/** What can be done with all documents that are selected. */
function Selected({ documents, onDelete, onClear }: SelectedProps) {
  const [asked, setAsked] = useState<'label' | 'index'>();
  const onClose = () => setAsked(undefined);
  const indexable = documents.filter(
    ({ status, indexedAt, failedJob }) => status === 'ready' && !indexedAt && !isHopeless(failedJob?.error),
  );
  const actions = [
    ...(indexable.length > 0 ? [{ label: t.jobs.kinds['document.index'], run: () => setAsked('index') }] : []),
    { label: t.labels.add, run: () => setAsked('label') },
    { label: t.common.delete, run: onDelete },
  ];
  return (
    <>
      <SelectionBar selected={documents.length} actions={actions} onClear={onClear} />
      {asked === 'label' && <LabelDocuments documents={documents} onClose={onClose} />}
      {asked === 'index' && (
        <StartJobs
          title={t.documents.indexMany(indexable.length)}
          text={t.documents.indexManyText}
          action={t.jobs.kinds['document.index']}
          jobs={indexable.length}
          start={() => indexDocuments(indexable)}
          onStarted={onClear}
          onClose={onClose}
        />
      )}
    </>
  );
}

interface Shown {
  place: Place;
  onSelect(id: string): void;
  onDelete(document: Document): void;
}

interface RowProps extends Shown {
  document: Document;
  isSelected: boolean;
  job: JobEvent | undefined;
}

interface PageProps extends Shown {
  items: Document[];
  chosen: ReadonlySet<string>;
  underWay: ReadonlyMap<string, JobEvent>;
}

/** The rows of a page of the list, which the browser skips while they are out of sight (main.css). */
const DocumentPage = memo(function DocumentPage({ items, chosen, underWay, ...shown }: PageProps) {
  return (
    <Table.Tbody>
      {items.map((document) => (
        <DocumentRow
          key={document.id}
          document={document}
          isSelected={chosen.has(document.id)}
          job={underWay.get(document.id)}
          {...shown}
        />
      ))}
    </Table.Tbody>
  );
});

/** Of a thousand rows only those that changed are drawn again. */
const DocumentRow = memo(function DocumentRow({ document, isSelected, job, place, onSelect, onDelete }: RowProps) {
  const { id, name } = document;
  return (
    <Table.Tr>
      <Table.Td>
        <Group gap="sm" wrap="nowrap" className="row-line">
          <Checkbox size="xs" aria-label={t.common.select(name)} checked={isSelected} onChange={() => onSelect(id)} />
          <LinkTo
            to="/o/$organization/$workspace/documents/$id"
            params={{ ...slugsOf(place), id }}
            aria-label={name}
            size="sm"
            className="foreign one-line row-name"
          >
            <ShortName name={name} />
          </LinkTo>
          {document.tags.length > 0 && (
            <Group gap={6} wrap="nowrap" className="row-tags">
              <Tags tags={document.tags} />
            </Group>
          )}
        </Group>
        {document.failedJob?.error && (
          <div className="below-line">
            <Foreign size="xs" mb={4} title={document.failedJob.error.message}>
              {inWords(document.failedJob.error)}
            </Foreign>
          </div>
        )}
      </Table.Td>
      <Table.Td>
        <DocumentState document={document} job={job} />
      </Table.Td>
      <Table.Td className="number">{formatBytes(document.size)}</Table.Td>
      <TimeCell at={document.createdAt} />
      <Table.Td className="number">
        <RowMenu name={name} actions={[{ label: t.common.delete, isDangerous: true, run: () => onDelete(document) }]} />
      </Table.Td>
    </Table.Tr>
  );
});
