"""
Put the judge on trial: which deliberate defects die, by which rules, and after how many commands.

A suite is worth what it catches. ``defects`` knows the deliberate defects of the reference agents, ``hunting`` lets the
usual search loose on one of them, ``tasks`` cuts the whole into pieces for several processes, and ``matrix`` holds what
came out: a row for each defect, who survived, and which rules have caught nothing. A defect is *killed* where a failure
names a rule that the defect breaks; a failure that names others alone doesn't count.
"""

from turnproof.killmatrix.defects import Defect, UnknownDefectError, defects
from turnproof.killmatrix.hunting import Hunt, hunt
from turnproof.killmatrix.matrix import Matrix, Row
from turnproof.killmatrix.running import Plan, measure

__all__ = ["Defect", "Hunt", "Matrix", "Plan", "Row", "UnknownDefectError", "defects", "hunt", "measure"]
