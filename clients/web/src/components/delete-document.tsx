import { type Document, SheafError } from '@sheaf/client';
import { background } from '../service.ts';
import { t } from '../text.ts';
import { Confirm } from './confirm.tsx';

interface DeleteDocumentProps {
  documents: Document[];
  onClose: () => void;
  onDone?: () => void;
}

/** Asks, and deletes one after the other. What was deleted by somebody else meanwhile is no failure. */
export function DeleteDocuments({ documents, ...rest }: DeleteDocumentProps) {
  const [first] = documents;
  const task = async () => {
    for (const { id } of documents)
      await background.documents.delete({ id }).catch((error: unknown) => {
        if (!(error instanceof SheafError && error.is('NOT_FOUND'))) throw error;
      });
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
