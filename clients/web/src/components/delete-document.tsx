import type { Document } from '@sheaf/client';
import { unlessGone } from '../document-queries.ts';
import { background } from '../service.ts';
import { t } from '../text.ts';
import { Confirm } from './confirm.tsx';

interface DeleteDocumentProps {
  documents: Document[];
  onClose: () => void;
  onDone?: () => void;
}

/** Asks, and deletes one after the other. */
export function DeleteDocuments({ documents, ...rest }: DeleteDocumentProps) {
  const [first] = documents;
  const task = async () => {
    for (const { id } of documents) await unlessGone(background.documents.delete({ id }));
  };
  return (
    <Confirm
      title={documents.length === 1 && first ? t.documents.deleteTitle(first.name) : t.documents.deleteManyTitle(documents.length)}
      text={documents.length === 1 ? t.documents.deleteText : t.documents.deleteManyText}
      action={t.common.delete}
      task={task}
      changes={['documents']}
      {...rest}
    />
  );
}
