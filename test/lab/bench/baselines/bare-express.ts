// What a user could write instead of GET /documents/{id}: Express 5 with one select by id through pg.
import express from 'express';
import pg from 'pg';

const [url = '', port = '0'] = process.argv.slice(2);
const pool = new pg.Pool({ connectionString: url, max: 20 });
const app = express();
app.get('/documents/:id', async (req, res) => {
  const { rows } = await pool.query('select * from document where id = $1', [req.params.id]);
  res.json(rows[0]);
});
app.listen(Number(port), '127.0.0.1');
