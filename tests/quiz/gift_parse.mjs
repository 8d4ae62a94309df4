// Parses GIFT with npm's gift-pegjs: the file named first, from the folder named second.
import fs from 'node:fs';
import { createRequire } from 'node:module';
const require = createRequire(process.argv[3] + '/');
const { parse } = await import(require.resolve('gift-pegjs'));
process.stdout.write(JSON.stringify(parse(fs.readFileSync(process.argv[2], 'utf8'))));
