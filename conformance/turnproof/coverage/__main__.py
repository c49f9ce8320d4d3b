"""Search the situations of both contracts and write them to the files that are shipped."""

from turnproof.coverage.graph import explore
from turnproof.coverage.shipped import file_of, text_of
from turnproof_model.contracts import CONTRACTS

for contract in CONTRACTS:
    file_of(contract).write_text(text_of(explore(contract)), encoding="utf-8")
