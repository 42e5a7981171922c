"""
Penguins: three species, and three questions
============================================

Each pair of species can be separated by four measurements, and so can all three in a
multinomial regression, which has no finite estimate. Yet two of the three species
cannot be separated from *the rest*: one against the rest is the wrong question there.
"""

import matplotlib.pyplot as plt
from palmerpenguins import load_penguins

import linsep
from linsep.plotting import ProjectionDisplay

columns = ["bill_length_mm", "bill_depth_mm", "flipper_length_mm", "body_mass_g"]
penguins = load_penguins().dropna(subset=columns)
X, species = penguins[columns], penguins["species"]

for name in sorted(species.unique()):
    alone = linsep.separate(X, species == name)
    print(f"{name} against the rest: {alone.status.value}")
answer = linsep.diagnose(X, species, family="multinomial")
print(answer.message)

# %%
# The rows that rule it out for the species in the middle, Chinstrap:
rest = linsep.separate(X, species == "Chinstrap")
figure, panels = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")
ProjectionDisplay.from_answer(answer, ax=panels[0])
ProjectionDisplay.from_answer(rest, ax=panels[1])
panels[0].set_title("all three, as a multinomial regression sees them")
panels[1].set_title("Chinstrap (True) against the rest")
